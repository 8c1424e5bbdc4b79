"""What the numbers say: claims, readings, and tests of differences and ranks."""
