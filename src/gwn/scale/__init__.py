"""Beyond one pass in memory: propagation from file to file, mini-batches of partitions, several processes."""
