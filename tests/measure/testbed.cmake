es_test(measure/testbed_test LINKS eventspace::measure)
