#include "machine_code.h"

#include <elf.h>
#include <stdint.h>
#include <string.h>

#include "buf.h"
#include "error.h"
#include "hash.h"

#define EM_CUBIN 190 /* EM_CUDA in newer elf.h */

typedef struct elf_file {
    const char *bytes;
    size_t size;
    Elf64_Ehdr header;
    Elf64_Shdr names; /* the section that holds section names */
} elf_file;

static int fail_damaged(void)
{
    return ako_fail(AKO_CORRUPT, "machine code", "the compiled file is damaged");
}

static bool holds(const elf_file *f, uint64_t offset, uint64_t size)
{
    return offset <= f->size && size <= f->size - offset;
}

static bool has_content(const Elf64_Shdr *section)
{
    return section->sh_type != SHT_NOBITS && section->sh_type != SHT_NULL;
}

/* Headers may lie unaligned in the buffer, so they are copied. */
static bool read_section(Elf64_Shdr *out, const elf_file *f, unsigned index)
{
    uint64_t at = f->header.e_shoff + (uint64_t)index * sizeof *out;
    if (f->header.e_shoff > f->size || !holds(f, at, sizeof *out))
        return false;
    memcpy(out, f->bytes + at, sizeof *out);
    return !has_content(out) || holds(f, out->sh_offset, out->sh_size);
}

static const char *section_name(const elf_file *f, const Elf64_Shdr *section)
{
    if (!has_content(&f->names) || section->sh_name >= f->names.sh_size)
        return NULL;
    const char *name = f->bytes + f->names.sh_offset + section->sh_name;
    return memchr(name, '\0', f->names.sh_size - section->sh_name) ? name : NULL;
}

static int open_elf(elf_file *f, const void *bytes, size_t size)
{
    *f = (elf_file){.bytes = bytes, .size = size};
    if (size < sizeof f->header)
        return fail_damaged();
    memcpy(&f->header, bytes, sizeof f->header);
    const Elf64_Ehdr *h = &f->header;
    if (memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 || h->e_ident[EI_CLASS] != ELFCLASS64 ||
        h->e_ident[EI_DATA] != ELFDATA2LSB || h->e_shentsize != sizeof(Elf64_Shdr) || h->e_shnum == 0 ||
        h->e_shstrndx >= h->e_shnum || !read_section(&f->names, f, h->e_shstrndx))
        return fail_damaged();
    return AKO_OK;
}

static bool has_prefix(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* In a cubin the line tables and everything of debuggers have sections of their own, none of them listed here. */
static bool decides_in_cubin(const char *name)
{
    static const char *const prefixes[] = {
        ".text.",         ".nv.constant",    ".nv.info",    ".nv.shared.",      ".nv.global",
        ".nv.local.",     ".rel.text.",      ".rela.text.", ".rel.nv.constant", ".rela.nv.constant",
        ".rel.nv.global", ".rela.nv.global", ".symtab",     ".strtab"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (has_prefix(name, prefixes[i]))
            return true;
    return false;
}

/* What the loader maps: also relocations and the names of imported functions, for a call of sinf instead of cosf
 * changes nothing else. The build id is a hash over debug sections too. */
static bool decides_in_shared_object(const Elf64_Shdr *section)
{
    return (section->sh_flags & SHF_ALLOC) && section->sh_type != SHT_NOTE;
}

static int add_section(ako_buf *out, const elf_file *f, unsigned index)
{
    Elf64_Shdr section;
    const char *name = read_section(&section, f, index) ? section_name(f, &section) : NULL;
    if (!name)
        return fail_damaged();
    if (f->header.e_machine == EM_CUBIN ? !decides_in_cubin(name) : !decides_in_shared_object(&section))
        return AKO_OK;
    ako_buf_printf(out, "%s %llu\n", name, (unsigned long long)section.sh_size);
    if (has_content(&section))
        ako_buf_put(out, f->bytes + section.sh_offset, section.sh_size);
    /* Sections may overlap in a forged file: no more bytes may count than there are. */
    return out->size > 2 * f->size + 65536 ? fail_damaged() : AKO_OK;
}

int ako_machine_code_hash(char out[65], const void *elf, size_t size)
{
    elf_file f;
    ako_buf text = {0};
    int status = open_elf(&f, elf, size);
    for (unsigned i = 1; status == AKO_OK && i < f.header.e_shnum; i++)
        status = add_section(&text, &f, i);
    if (status == AKO_OK && text.oom)
        status = ako_fail(AKO_NOMEM, "machine code", "out of memory hashing machine code");
    if (status == AKO_OK)
        status = ako_hash(out, text.data, text.size);
    ako_buf_free(&text);
    return status;
}

/* Parameters lie in a constant bank that each kernel has of its own, also one that takes none; functions have none. */
bool ako_machine_code_has_kernel(const void *cubin, size_t size, const char *symbol)
{
    static const char bank[] = ".nv.constant0.";
    elf_file f;
    if (open_elf(&f, cubin, size) != AKO_OK)
        return false;
    for (unsigned i = 1; i < f.header.e_shnum; i++) {
        Elf64_Shdr section;
        const char *name = read_section(&section, &f, i) ? section_name(&f, &section) : NULL;
        if (name && has_prefix(name, bank) && strcmp(name + strlen(bank), symbol) == 0)
            return true;
    }
    return false;
}
