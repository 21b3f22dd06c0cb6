/* The border between image/jpeg.rs and libjpeg: no type of libjpeg, no longjmp and no unwinding
 * crosses it. */
#ifndef ZARRIX_JPEG_H
#define ZARRIX_JPEG_H

#include <stddef.h>
#include <stdint.h>

enum {
  ZARRIX_OK = 0,
  ZARRIX_CORRUPT = 1,
  ZARRIX_MEMORY = 2,
  ZARRIX_INTERRUPTED = 3,
  ZARRIX_FULL = 4
};

enum { ZARRIX_MESSAGE = 200 };

/* Bytes of a stream, in several places. */
typedef struct {
  const uint8_t *bytes;
  size_t length;
} zarrix_piece;

typedef struct {
  const zarrix_piece *pieces;
  size_t n_pieces;
  /* Tables that come before the stream; of length 0 if there are none. */
  zarrix_piece tables;
  /* What the header has to say, else nothing is allocated. */
  uint32_t width, height, channels;
  /* Color spaces as in libjpeg; the first replaces that of the header, if it is not negative. */
  int32_t stored_space, space;
  /* The number of the first restart marker, 0 to 7. */
  int32_t first_restart;
  /* Each side divided by 1, 2, 4 or 8; the box below is in these pixels. */
  uint32_t reduction;
  uint32_t left, columns, top, rows;
  /* The first pixel of the box, and the bytes from one row to the next. */
  uint8_t *out;
  size_t stride;
  int (*poll)(void *);
  void *polled;
} zarrix_jpeg_read;

typedef struct {
  const uint8_t *pixels;
  uint32_t width, height, channels;
  int32_t stored_space, space;
  int32_t quality, horizontal, vertical, optimize;
  uint8_t *out;
  size_t room, written;
} zarrix_jpeg_write;

int zarrix_jpeg_decode(const zarrix_jpeg_read *read, char *message);
int zarrix_jpeg_encode(zarrix_jpeg_write *write, char *message);

#endif
