/*
 * Unsupported file types, recognised by their magic numbers only to be rejected. Otherwise gpuhist
 * would count their bytes as binary integers.
 *
 * Integers may look like one of these types by chance. A magic number of four bytes or more is one
 * value of 32 bits, or the first two of 16, among all: rarely the first of an input. Shorter magic
 * numbers, and those whose bytes occur in small integers, need more evidence: see the functions.
 * With --binary or a type with a byte order, any file is read as integers.
 */
#include "config.h"

#include "lib/decoder_internal.h"

#include <string.h>

/*
 * lzma has no magic. Its header has 13 bytes: the properties (usually 0x5d), the size of the
 * dictionary, and the size of the content (all ones: unknown). A byte of 0 and 4 bytes of code
 * follow (the LZMA specification in the LZMA SDK). Small binary integers may look like such a
 * header, but then zeros follow. Therefore at least three bytes of the code must not be zero.
 * Encoders use dictionaries of 2^n or 2^n + 2^(n-1) bytes, 4 KiB or more.
 */
static enum decoder_match decoder_lzma_match(const unsigned char *head, size_t bytes)
{
    unsigned zeros = 0;

    if (bytes < 18)
        return DECODER_MAYBE;
    const uint32_t dictionary = decoder_read_32(head + 1);
    const uint32_t lowest = dictionary & -dictionary;
    const uint32_t rest = dictionary - lowest;
    const uint64_t size = decoder_read_32(head + 5) | (uint64_t)decoder_read_32(head + 9) << 32;
    for (size_t i = 14; i < 18; i++)
        zeros += head[i] == 0;
    return dictionary >= 4096 && (rest == 0 || rest == 2 * lowest) &&
                   (size == UINT64_MAX || size >> 38 == 0) && head[13] == 0 && zeros <= 1
               ? DECODER_YES
               : DECODER_NO;
}

/*
 * The magic of tar is at offset 257. The program does not wait for it: a pipe that first delivers
 * fewer bytes is not an archive, whose records have 512 or more.
 */
static enum decoder_match decoder_tar_match(const unsigned char *head, size_t bytes)
{
    return bytes >= 265 && (memcmp(head + 257,
                                   "ustar\0"
                                   "00",
                                   8) == 0 ||
                            memcmp(head + 257, "ustar  \0", 8) == 0)
               ? DECODER_YES
               : DECODER_NO;
}

/* A row of the table: "NAME: <kind> are not supported (try <instead>, or --binary, ...)". */
#define DECODER_ROW_BY(word, function, bytes, what, way)                                 \
    {                                                                                    \
        .name = word, .match = function, .magics = {DECODER_MAGIC(bytes)}, .kind = what, \
        .instead = way                                                                   \
    }
#define DECODER_ROW(word, bytes, what, way) DECODER_ROW_BY(word, NULL, bytes, what, way)

const struct decoder_format decoder_refused[] = {
    /* compressed files and archives */
    {.name = "zip",
     .magics = {DECODER_MAGIC("PK\3\4"), DECODER_MAGIC("PK\5\6"), DECODER_MAGIC("PK\7\10")},
     .kind = "zip archives",
     .instead = "unzip -p, an .xlsx saved as CSV"},
    DECODER_ROW("7z", "7z\xbc\xaf\x27\x1c", "7z archives", "7z x -so"),
    DECODER_ROW("rar", "Rar!\x1a\7", "rar archives", "unrar p -inul"),
    DECODER_ROW_BY("tar", decoder_tar_match, "", "tar archives", "tar -xO"),
    DECODER_ROW("ar", "!<arch>\n", "ar archives, such as .deb", "ar p"),
    DECODER_ROW_BY("lzma", decoder_lzma_match, "\x5d\0", "lzma files, the predecessors of xz,",
                   "xz -dc"),
    /*
     * The third byte has the maximum code length, 9 to 16 bits, and a flag that compress has set
     * since version 4.0 (1985). One in two million random files begins so.
     */
    {.name = "compress",
     .magics = {DECODER_MAGIC_RANGE("\x1f\x9d\x89", "\x1f\x9d\x90")},
     .kind = "files of compress (.Z)",
     .instead = "gzip -dc"},
    DECODER_ROW("lzip", "LZIP\1", "lzip files", "lzip -dc"),
    DECODER_ROW("lzop", "\x89LZO\0\r\n\x1a\n", "lzop files", "lzop -dc"),
    DECODER_ROW("snappy", "\xff\6\0\0sNaPpY", "snappy files", "snzip -dc"),
#if defined HAVE_ISAL || defined HAVE_ZLIB
    DECODER_ROW_BY("zlib", decoder_zlib_match, "", "zlib streams", "pigz -dcz"),
#endif
    /* tables and arrays */
    DECODER_ROW("Parquet", "PAR1\x15", "Parquet files", "duckdb, which writes columns as CSV"),
    DECODER_ROW("Arrow", "ARROW1\0\0", "Arrow files", "duckdb, which writes columns as CSV"),
    DECODER_ROW("Avro", "Obj\1", "Avro files", "avro-tools tojson"),
    DECODER_ROW("SQLite", "SQLite format 3\0", "SQLite databases", "sqlite3 -csv"),
    DECODER_ROW("HDF5", "\x89HDF\r\n\x1a\n", "HDF5 files", "h5dump -b LE -o"),
    /* Read if the first file is one, and no option says otherwise; see reader.h. */
    {.name = "NumPy",
     .magics = {DECODER_MAGIC("\x93NUMPY")},
     .kind = "NumPy arrays after other input or with options for text or records",
     .is_array = true,
     .instead = "each array alone, a column with -f N"},
    DECODER_ROW("OLE2", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "OLE2 files (.xls, .doc)",
                "saving it as CSV or text"),
    DECODER_ROW("state", "gpuhist state ", "saved states", "gpuhist merge"),
    /* others */
    /* A class of file, a byte order and the version follow the magic. */
    {.name = "ELF",
     .magics = {DECODER_MAGIC_RANGE("\x7f\x45LF\0\0\1", "\x7f\x45LF\2\2\1")},
     .kind = "ELF programs and libraries"},
    DECODER_ROW("PNG", "\x89PNG\r\n\x1a\n", "PNG images", NULL),
    {.name = "JPEG",
     .magics = {DECODER_MAGIC_RANGE("\xff\xd8\xff\xdb", "\xff\xd8\xff\xee")},
     .kind = "JPEG images"},
    {.name = "GIF", .magics = {DECODER_MAGIC_RANGE("GIF87a", "GIF89a")}, .kind = "GIF images"},
    DECODER_ROW("PDF", "%PDF-", "PDF documents", "pdftotext"),
    /* "RIFF" may be text; a length and what the file is follow. */
    {.name = "RIFF",
     .magics = {DECODER_MAGIC_RANGE("RIFF\0\0\0\0WAVE", "RIFF\xff\xff\xff\xffWAVE"),
                DECODER_MAGIC_RANGE("RIFF\0\0\0\0AVI ", "RIFF\xff\xff\xff\xff\x41VI "),
                DECODER_MAGIC_RANGE("RIFF\0\0\0\0WEBP", "RIFF\xff\xff\xff\xffWEBP")},
     .kind = "RIFF files, such as WAV,"},
};

const size_t decoder_refused_count = sizeof decoder_refused / sizeof *decoder_refused;
