"""What people look at and take away after a run: its page and its model card."""
