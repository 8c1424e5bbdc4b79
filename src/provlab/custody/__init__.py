"""Everything that keeps results trustworthy: audits, merges, exports, the reference and its texts."""
