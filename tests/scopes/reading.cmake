# How the tuples of runs come to the views; included from tests/CMakeLists.txt.
es_test(scopes/store_test LINKS eventspace::scopes)
