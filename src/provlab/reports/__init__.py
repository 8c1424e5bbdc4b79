"""From stored trials to frames, tables and figures."""
