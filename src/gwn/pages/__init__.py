"""What every page is made of: tables and charts as HTML that opens from the disk, in light and in dark."""
