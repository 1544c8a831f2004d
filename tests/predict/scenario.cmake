# One condition as a text; included from tests/CMakeLists.txt.
es_test(predict/scenario_condition_test LINKS eventspace::predict m)
