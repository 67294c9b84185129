"""The attack campaign: kills, faults, mutated inputs, flipped bits and crowds, against the commands as they are."""
