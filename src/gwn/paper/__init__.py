"""The reproduction: cells are measured and kept as records, exhibits are made from them, and shown as text or a page."""
