/* What of a compiled binary decides how it behaves: a small reader of 64-bit ELF, for cubins and shared objects. */
#ifndef AKO_MACHINE_CODE_H
#define AKO_MACHINE_CODE_H

#include <stdbool.h>
#include <stddef.h>

/* Hash over the sections that hold or direct machine code: instructions, constants, resources, symbols, relocations.
 * Debug sections, line tables and build ids stay out, so that the same code from otherwise worded source hashes alike.
 * AKO_CORRUPT when it is no 64-bit little-endian ELF file or a section lies outside of it. */
int ako_machine_code_hash(char out[65], const void *elf, size_t size);

/* Whether a cubin holds this symbol (as the compiler mangled it) as a kernel, and not as a function or not at all. */
bool ako_machine_code_has_kernel(const void *cubin, size_t size, const char *symbol);

#endif
