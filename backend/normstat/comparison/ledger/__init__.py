"""The ledger of a host: for each resource how much was used, how much is normal, and who used it.

What is conserved adds up: the parts of a total and its remainder are the total. Pure arithmetic over the samples of both sides of a
comparison. Never: reading the database, the ranking of series (comparison). Entry point: `book.open_book`.
"""
