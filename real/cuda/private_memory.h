// A word for functions that touch nothing but their own variables and what those stand for: copies
// that nobody else can see. A compiler that reports accesses to memory has nothing to say about
// them, and without its reports they are fast. On a GPU, where nothing is reported, it means
// nothing.
//
// What such a function calls has to be one too, or be inlined by force.
#pragma once

#ifdef __CUDACC__
#define ADAMANT_PRIVATE_MEMORY
#else
#define ADAMANT_PRIVATE_MEMORY __attribute__((no_sanitize("thread")))
#endif
