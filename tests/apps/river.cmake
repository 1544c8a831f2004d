es_test(apps/river_test
        LINKS river_water PkgConfig::JANSSON
        SOURCES support/application.c support/command.c support/scratch.c
        TIMEOUT 600)
if(TARGET apps_river_test)
  add_dependencies(apps_river_test eventspace_cli river)
endif()
es_test(apps/river_cut_test
        LINKS river_water es_division es_pixels PkgConfig::JANSSON PkgConfig::PNG
        SOURCES support/application.c support/command.c support/scratch.c
                support/pictures.c
        TIMEOUT 300)
if(TARGET apps_river_cut_test)
  add_dependencies(apps_river_cut_test eventspace_cli river)
endif()
