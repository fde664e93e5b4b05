/* The main function of a target without libFuzzer: runs it on every file of a folder, and prints
 * the name of each file before it is run. */
#include "fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

static char current[4096]; /* the file being tried */

static void try_file(const char *path) {
    FILE *file = fopen(path, "rb");
    MUST(file != NULL && fseek(file, 0, SEEK_END) == 0);
    long length = ftell(file);
    MUST(length >= 0 && fseek(file, 0, SEEK_SET) == 0);
    /* A block of exactly its size, so that a sanitizer finds reads beyond it. */
    uint8_t *bytes = malloc((size_t)length);
    MUST(bytes != NULL || length == 0);
    MUST(fread(bytes, 1, (size_t)length, file) == (size_t)length);
    fclose(file);
    MUST(LLVMFuzzerTestOneInput(bytes, (size_t)length) == 0);
    free(bytes);
}

static int choose(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

int main(int count, char *arguments[]) {
    struct dirent **entries;
    int files = count == 2 ? scandir(arguments[1], &entries, choose, alphasort) : -1;
    if (files <= 0) {
        fprintf(stderr, "usage: %s FOLDER (of at least one file)\n", arguments[0]);
        return 2;
    }
    for (int i = 0; i < files; i++) {
        snprintf(current, sizeof current, "%s/%s", arguments[1], entries[i]->d_name);
        fprintf(stderr, "%s\n", current); /* after a crash, the last line names the input */
        try_file(current);
        free(entries[i]);
    }
    free(entries);
    printf("%d inputs\n", files);
    return 0;
}
