# es_layer(NAME SOURCES ... LINKS ...): one folder, one library, with the
# alias eventspace::NAME. LINKS are public when they are layers.
function(es_layer name)
  cmake_parse_arguments(ES "" "" "SOURCES;LAYERS;PRIVATE" ${ARGN})
  add_library(es_${name} STATIC ${ES_SOURCES})
  add_library(eventspace::${name} ALIAS es_${name})
  set_target_properties(es_${name} PROPERTIES OUTPUT_NAME es_${name}
                                              EXPORT_NAME ${name})
  target_include_directories(
    es_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                      $<INSTALL_INTERFACE:include/eventspace>)
  foreach(layer IN LISTS ES_LAYERS)
    target_link_libraries(es_${name} PUBLIC es_${layer})
  endforeach()
  target_link_libraries(es_${name} PRIVATE ${ES_PRIVATE})
endfunction()
