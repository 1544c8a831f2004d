es_fuzz(space LINKS eventspace::pastset)
