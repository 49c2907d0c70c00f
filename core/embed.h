/* Text files as parts of the program. Their paths are relative to the source folder. */
#ifndef AKO_EMBED_H
#define AKO_EMBED_H

/* Declares `extern const char symbol[]` with the bytes of the file and a NUL behind them. At file scope, with a
 * semicolon. The compiler cannot see that the object depends on the file: the Makefile must say so. */
#define AKO_EMBED(symbol, path)                          \
    extern const char symbol[];                          \
    __asm__(".pushsection .rodata\n"                     \
            ".global " #symbol "\n"                      \
            ".hidden " #symbol "\n"                      \
            ".type " #symbol ", @object\n" #symbol ":\n" \
            ".incbin \"" AKO_SOURCE_DIR "/" path "\"\n"  \
            ".byte 0\n"                                  \
            ".size " #symbol ", . - " #symbol "\n"       \
            ".popsection\n")

#endif
