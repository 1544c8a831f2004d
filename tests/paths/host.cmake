# Hosts as processes: operations here and there, held operations, strangers.
set(hosts_support support/hosts.c support/process.c support/scratch.c
                  paths/wrappers.c)
es_test(paths/host_test LINKS eventspace::paths SOURCES ${hosts_support}
        TIMEOUT 600)
es_test(paths/held_test LINKS eventspace::paths SOURCES ${hosts_support}
        TIMEOUT 600)
es_test(paths/security_test LINKS eventspace::paths SOURCES ${hosts_support}
        TIMEOUT 900)
if(TARGET paths_security_test)
  target_link_libraries(paths_security_test PRIVATE PkgConfig::SODIUM)
endif()
es_test(paths/collective_test LINKS eventspace::paths
        SOURCES ${hosts_support} support/mapping.c paths/collective_round.c
        TIMEOUT 600)
es_test(paths/collective_fault_test LINKS eventspace::paths
        SOURCES ${hosts_support} paths/collective_round.c TIMEOUT 900)
es_stress(paths/paths_stress LINKS eventspace::paths SOURCES paths/wrappers.c
          TIMEOUT 120)
es_stress(paths/collective_stress LINKS eventspace::paths
          SOURCES paths/collective_kinds.c paths/collective_parts.c
                  paths/collective_faults.c support/inside.c
          TIMEOUT 600)
