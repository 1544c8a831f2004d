# The element and its space; included from tests/CMakeLists.txt.
foreach(suite type space element append waiting ledger many)
  es_test(pastset/${suite}_test LINKS eventspace::pastset)
endforeach()
es_stress(pastset/element_stress LINKS eventspace::pastset)
