"""The reproduction: cells are measured and kept as records, exhibits are made from them, shown as text or as pages."""
