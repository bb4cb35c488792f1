"""The tests, one folder for each package of normstat and a few for what spans several."""
