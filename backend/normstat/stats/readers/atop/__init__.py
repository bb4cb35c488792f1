"""atop: its lines for programs (`atop -P`), its JSON (`atop -J`), and the tables of atopsar."""
