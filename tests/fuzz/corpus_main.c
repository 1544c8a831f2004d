/* corpus_main.c - runs a fuzz target over the files of a folder, where
 * libFuzzer is not linked: each input that ever made trouble stays a test. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static int run_file(const char *directory, const char *name)
{
    char path[4096];
    uint8_t *data = NULL;
    long bytes;
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", directory, name);
    file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0 || (bytes = ftell(file)) < 0) {
        perror(path);
        return 1;
    }
    rewind(file);
    data = malloc((size_t)bytes + 1);
    if (!data || fread(data, 1, (size_t)bytes, file) != (size_t)bytes) {
        perror(path);
        return 1;
    }
    fclose(file);
    LLVMFuzzerTestOneInput(data, (size_t)bytes);
    free(data);
    return 0;
}

int main(int argc, char **argv)
{
    DIR *directory = argc == 2 ? opendir(argv[1]) : NULL;
    const struct dirent *entry;
    int failed = 0, count = 0;

    if (!directory) {
        fprintf(stderr, "usage: %s CORPUS\n", argv[0]);
        return 2;
    }
    while ((entry = readdir(directory))) {
        if (entry->d_name[0] != '.') {
            failed |= run_file(argv[1], entry->d_name);
            count++;
        }
    }
    closedir(directory);
    printf("%d inputs\n", count);
    return failed || count == 0;
}
