"""The commands of the command line, one module for each group; cli.py names them."""
