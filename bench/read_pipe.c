/*
 * The bare reader that gpuhist's pipe input is measured against: widens standard input, if it is a
 * pipe, to 1 MiB, and reads it to its end in pieces of that size. Prints nothing.
 */
#include "config.h"

#include <fcntl.h>
#include <unistd.h>

#define PIECE_BYTES ((size_t)1 << 20)

int main(void)
{
    static char piece[PIECE_BYTES];
    ssize_t n;

#ifdef F_SETPIPE_SZ
    fcntl(STDIN_FILENO, F_SETPIPE_SZ, (int)PIECE_BYTES);
#endif
    do
        n = read(STDIN_FILENO, piece, sizeof piece);
    while (n > 0);
    return n < 0;
}
