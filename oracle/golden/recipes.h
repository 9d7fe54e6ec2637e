// Written by recipes.py with ml_dtypes 0.6.0, numpy 2.4.6 on 2026-11-23: digests of codes, of
// scales and of what is read, for each recipe and each kind of weights.
#pragma once

#include <cstdint>

namespace adamant::oracle::golden {

struct RecipeRow {
  char const* recipe;
  char const* kind;
  std::uint64_t codes, scales, read;
  std::uint32_t first_scale;
};
inline constexpr RecipeRow recipe_rows[] = {
    {"fp8_current", "plain", 0x674e969d0602307a, 0xe18191c5f6a8ccc0, 0x9f4ccc0cd07b17e1,
     0x4312404e},
    {"fp8_block", "plain", 0x3b5029734cfb5396, 0x64f542db0c957d35, 0xd9abe5c6adef2ea9, 0x43800000},
    {"mxfp8", "plain", 0x7889d38d781d8c0f, 0x01212334f09cdbdb, 0xc4da807d0d1840ba, 0x38000000},
    {"nvfp4", "plain", 0x86348a1b90ed37f3, 0x3565155879f73d0f, 0xd0d7e37ca0c0ab71, 0x4212404e},
    {"fp8_delayed", "plain", 0xdeefddfb98ee63b1, 0x588c4c08bd456c38, 0x41d756ecfc256f7e,
     0x4312252d},
    {"fp8_current", "holes", 0x9051a96793996259, 0xe18191c5f6a8ccc0, 0x1223cde79a4fd098,
     0x4312404e},
    {"fp8_block", "holes", 0x9cdfc83ce0fffa29, 0x64f542db0c957d35, 0x1d2addb79197b5ea, 0x43800000},
    {"mxfp8", "holes", 0x58a5ebd76a252e6b, 0x74426df9833afa25, 0x9893699bb75f48b2, 0x00400000},
    {"nvfp4", "holes", 0xcd3292532b42ee5b, 0x3565155879f73d0f, 0xd05b5db3665f2456, 0x4212404e},
    {"fp8_delayed", "holes", 0xca2add3f25e07ea8, 0x588c4c08bd456c38, 0x2e653ffbf46bea0c,
     0x4312252d},
    {"fp8_current", "infinite", 0xefb0b71747c3e29f, 0x4b72477f9c5c2f98, 0xe2e0d67888b00bde,
     0x3f800000},
    {"fp8_block", "infinite", 0x8f10b24d8fc15203, 0x0b2d6cee2f149b71, 0x43e399b794ddb2c5,
     0x3f800000},
    {"mxfp8", "infinite", 0xc441f5e9f3eace36, 0xae4742876375aeed, 0xdf437a2edc666236, 0x38000000},
    {"nvfp4", "infinite", 0x2304a9a64da4aa8b, 0x689f761b2275f062, 0x4070dce85061a2c7, 0x43e00000},
    {"fp8_delayed", "infinite", 0xd6761da439f8fe3c, 0x0b2d58ee2f147975, 0x486c1d4af52a6e04,
     0x3f800000},
    {"fp8_current", "tiny", 0x6a92bc6f8cd0ae85, 0x4cb8b67f9d71aed5, 0x682f32ad6ce3320a, 0x00200000},
    {"fp8_block", "tiny", 0xc218787dfdf30759, 0x82556b76aaefe145, 0x6661252b3dfaa033, 0x00400000},
    {"mxfp8", "tiny", 0xc218787dfdf30759, 0x1674b4bf8c3b6325, 0x6661252b3dfaa033, 0x00400000},
    {"nvfp4", "tiny", 0xf2e34b4e4a34559c, 0xe4d13a99dc9a4f77, 0x071b8583f0e3d1b3, 0x00160000},
    {"fp8_delayed", "tiny", 0x42e785a60191f83f, 0x7f14a6441db5e801, 0x5b23cff74896512c, 0x00200000},
};

}  // namespace adamant::oracle::golden
