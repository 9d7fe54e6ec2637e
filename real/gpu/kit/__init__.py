"""What `real/gpu/run` is made of. Python's standard library alone, so that it runs anywhere.

main        the command: arguments, checks, steps, exit status
place       where programs and data are: in a checkout, or in a pack
pack        makes a pack
machine     what the machine has, and a sentence where that is not enough
steps       what is run, in order of value, and within how many seconds
session     runs the steps, and what becomes of them when it is cut off
watch       a GoogleTest program that may hang or crash
child       any program, within seconds
results     files that are whole at any time
page        the results for people
awake       keeps a GPU's driver awake
"""
