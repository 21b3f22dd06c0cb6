#ifndef ZARRIX_HUFFMAN_H
#define ZARRIX_HUFFMAN_H

#include <stdio.h>
#include "jpeglib.h"

/* Replaces the Huffman decoder of a baseline image of one scan, whose decoder has started, by a
 * faster one with the same results. */
void zarrix_use_huffman(j_decompress_ptr info);

#endif
