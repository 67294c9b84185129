"""The explorer: one page on which waves travel over a graph, computed where it is looked at; and the same as a film."""
