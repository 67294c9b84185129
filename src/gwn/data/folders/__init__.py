"""Graphs larger than memory: a folder of memory-mapped arrays, how it is generated, converted into, and read."""
