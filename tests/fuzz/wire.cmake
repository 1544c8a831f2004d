# What comes over a connection; it looks into processes, so it takes their
# library as it is.
es_fuzz(wire LINKS eventspace::paths)
