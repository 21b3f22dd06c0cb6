/* The Huffman decoder of baseline images, which takes most of the time of a decode.
 *
 * libjpeg looks at a bit buffer twice for each coefficient: for the code, and for the bits of the
 * number behind it. Here one entry of a table says the length of both, so that the position of the
 * next code depends on one load; the number is made beside that. What is rare stays with libjpeg,
 * which decodes the same MCU again: restarts, ends of pieces, missing bits. The state between MCUs
 * is that of libjpeg. A code that no table has is an error. */
#define JPEG_INTERNALS
#include <string.h>
#include <stdint.h>

#include "huffman.h"

#include "jdhuff.h"
#include "jerror.h"

#if defined(__GNUC__) && defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && \
    BIT_BUF_SIZE == 64 && SIZE_MAX > UINT32_MAX

/* As in jdhuff.c, of the one version of libjpeg that this is compiled with. */
typedef struct {
  struct jpeg_entropy_decoder pub;
  bitread_perm_state bits;
  int last_dc[MAX_COMPS_IN_SCAN];
  unsigned int restarts_to_go;
  d_derived_tbl *dc_derived[NUM_HUFF_TBLS], *ac_derived[NUM_HUFF_TBLS];
  d_derived_tbl *dc_tables[D_MAX_BLOCKS_IN_MCU], *ac_tables[D_MAX_BLOCKS_IN_MCU];
  boolean dc_needed[D_MAX_BLOCKS_IN_MCU], ac_needed[D_MAX_BLOCKS_IN_MCU];
} entropy_decoder;

/* Codes of up to so many bits are looked up. */
enum { LOOK = 10, LONGEST_CODE = 16, LONGEST = LONGEST_CODE + 15 };

/* What a code means: bits of the code and the number behind it, bits of the number, and how many
 * coefficients further it is; 0 where the code is longer, or none. */
typedef uint16_t meaning;
enum { SIZE_AT = 5, STEP_AT = 9, ENDS = 1 << 14 };

typedef struct {
  meaning of[1 << LOOK];
} table;

typedef struct {
  boolean (*library)(j_decompress_ptr, JBLOCKROW *);
  int (*decode)(j_decompress_ptr, JBLOCKROW *);
  const table *dc[D_MAX_BLOCKS_IN_MCU], *ac[D_MAX_BLOCKS_IN_MCU];
  /* MCUs that are left of the image. */
  uint64_t left;
} decoder;

/* What has been read: `count` bits, at the top of `bits`, and where more are. */
typedef struct {
  uint64_t bits;
  int count;
  const JOCTET *at, *end;
} reader;

static inline meaning meaning_of(int length, int symbol) {
  const int run = symbol >> 4, size = symbol & 15;
  const int ends = size == 0 && run < 15 ? ENDS : 0;
  return (meaning)((length + size) | size << SIZE_AT | (run + 1) << STEP_AT | ends);
}

static table *table_of(j_decompress_ptr info, const d_derived_tbl *derived) {
  table *made = info->mem->alloc_small((j_common_ptr)info, JPOOL_IMAGE, sizeof *made);
  int at = 0, symbol = 0;
  for (int length = 1; length <= LOOK; length++) {
    for (int n = derived->pub->bits[length]; n > 0; n--) {
      meaning one = meaning_of(length, derived->pub->huffval[symbol++]);
      for (int end = at + (1 << (LOOK - length)); at < end; at++) made->of[at] = one;
    }
  }
  memset(made->of + at, 0, ((1 << LOOK) - at) * sizeof(meaning));
  return made;
}

/* Reads bytes until the bits are more than 56, or a marker or the end of the piece is next. */
static void read_bytes(reader *from) {
  while (from->count <= 56 && from->at < from->end) {
    const JOCTET byte = *from->at;
    if (byte == 0xff) {
      if (from->end - from->at < 2 || from->at[1] != 0) return;
      from->at++;
    }
    from->at++;
    from->bits |= (uint64_t)byte << (56 - from->count);
    from->count += 8;
  }
}

static inline __attribute__((always_inline)) void fill(reader *from) {
  uint64_t next;
  if (from->end - from->at >= 8) {
    memcpy(&next, from->at, sizeof next);
    /* Zero for the bytes that are not 0xff, if all are not. */
    if (__builtin_expect(((next & ~(next + 0x0101010101010101u)) & 0x8080808080808080u) == 0, 1)) {
      const int bytes = (63 - from->count) >> 3;
      from->bits |= __builtin_bswap64(next) >> from->count;
      from->at += bytes;
      from->count += 8 * bytes;
      return;
    }
  }
  read_bytes(from);
}

/* The meaning of a code that is longer than LOOK; 0 if there is none. */
static __attribute__((noinline)) meaning long_code(uint64_t bits, const d_derived_tbl *derived) {
  for (int length = LOOK + 1; length <= LONGEST_CODE; length++) {
    const JLONG code = (JLONG)(bits >> (64 - length));
    if (code <= derived->maxcode[length])
      return meaning_of(length, derived->pub->huffval[(code + derived->valoffset[length]) & 0xff]);
  }
  return 0;
}

/* The next code, and the number behind it. */
static inline __attribute__((always_inline)) meaning next_code(reader *from, const table *looked,
                                                               const d_derived_tbl *derived,
                                                               int *number) {
  if (from->count < LONGEST) fill(from);
  meaning one = looked->of[from->bits >> (64 - LOOK)];
  if (__builtin_expect(one == 0, 0)) one = long_code(from->bits, derived);
  const int all = one & 31, size = one >> SIZE_AT & 15;
  const int mask = (1 << size) - 1;
  /* A half of 0 bits is 0. */
  const int bits = (int)(from->bits >> 1 >> (63 - all)) & mask;
  *number = bits - (bits <= mask >> 1 ? mask : 0);
  from->bits <<= all;
  from->count -= all;
  return one;
}

static inline __attribute__((always_inline)) int decode_ac(reader *from, const table *looked,
                                                           const d_derived_tbl *derived,
                                                           JCOEF *block) {
  for (int at = 0, number; at < DCTSIZE2 - 1;) {
    const meaning one = next_code(from, looked, derived, &number);
    if (one & ENDS) break;
    if (__builtin_expect(one == 0, 0)) return 0;
    at += one >> STEP_AT & 31;
    /* The order has entries for the steps beyond 63, which only damaged images have. */
    if (block != NULL) block[jpeg_natural_order[at]] = (JCOEF)number;
  }
  return from->count >= 0;
}

/* A code that no table has is an error; what the bytes were too few for is not. */
static __attribute__((noinline)) int refused(j_decompress_ptr info, const reader *from) {
  if (from->count >= LONGEST_CODE) ERREXIT(info, JWRN_HUFF_BAD_CODE);
  return 0;
}

/* Whether all of the MCU was there; else the state is as before. */
static inline __attribute__((always_inline)) int decode(j_decompress_ptr info, JBLOCKROW *blocks) {
  entropy_decoder *entropy = (entropy_decoder *)info->entropy;
  const decoder *ours = info->client_data;
  const int count = entropy->bits.bits_left;
  int last[MAX_COMPS_IN_SCAN], number;
  reader from = {count > 0 ? entropy->bits.get_buffer << (64 - count) : 0, count,
                 info->src->next_input_byte,
                 info->src->next_input_byte + info->src->bytes_in_buffer};
  memcpy(last, entropy->last_dc, sizeof last);
  for (int n = 0; n < info->blocks_in_MCU; n++) {
    JCOEF *block = blocks != NULL ? *blocks[n] : NULL;
    const int component = info->MCU_membership[n];
    if (next_code(&from, ours->dc[n], entropy->dc_tables[n], &number) == 0)
      return refused(info, &from);
    if (entropy->dc_needed[n]) {
      last[component] = (int)((unsigned)last[component] + (unsigned)number);
      if (block != NULL) block[0] = (JCOEF)last[component];
    }
    if (!entropy->ac_needed[n]) block = NULL;
    if (!decode_ac(&from, ours->ac[n], entropy->ac_tables[n], block)) return refused(info, &from);
  }
  if (ours->left == 1 && from.count <= 56) fill(&from);
  memcpy(entropy->last_dc, last, sizeof last);
  info->src->bytes_in_buffer = (size_t)(from.end - from.at);
  info->src->next_input_byte = from.at;
  entropy->bits.get_buffer = from.count > 0 ? from.bits >> (64 - from.count) : 0;
  entropy->bits.bits_left = from.count;
  return 1;
}

static int decode_plain(j_decompress_ptr info, JBLOCKROW *blocks) { return decode(info, blocks); }

#if defined(__x86_64__)
/* Its shifts take one instruction each. */
__attribute__((target("bmi2"))) static int decode_bmi2(j_decompress_ptr info, JBLOCKROW *blocks) {
  return decode(info, blocks);
}
#endif

static boolean decode_mcu(j_decompress_ptr info, JBLOCKROW *blocks) {
  entropy_decoder *entropy = (entropy_decoder *)info->entropy;
  decoder *ours = info->client_data;
  const int restarts = info->restart_interval > 0;
  int done = 0;
  if (info->unread_marker == 0 && !entropy->pub.insufficient_data &&
      !(restarts && entropy->restarts_to_go == 0)) {
    done = ours->decode(info, blocks);
    if (done && restarts) entropy->restarts_to_go--;
    for (int n = 0; !done && blocks != NULL && n < info->blocks_in_MCU; n++)
      memset(blocks[n], 0, sizeof(JBLOCK));
  }
  ours->left--;
  return done ? TRUE : ours->library(info, blocks);
}

/* Whether the decoder has the fields that are expected. */
static int is_known(const entropy_decoder *entropy, j_decompress_ptr info) {
  int known = entropy->restarts_to_go == info->restart_interval && entropy->bits.bits_left == 0;
  for (int n = 0; known && n < info->blocks_in_MCU; n++) {
    const jpeg_component_info *component = info->cur_comp_info[info->MCU_membership[n]];
    known = entropy->dc_tables[n] == entropy->dc_derived[component->dc_tbl_no] &&
            entropy->ac_tables[n] == entropy->ac_derived[component->ac_tbl_no];
  }
  return known;
}

void zarrix_use_huffman(j_decompress_ptr info) {
  entropy_decoder *entropy = (entropy_decoder *)info->entropy;
  const table *dc[NUM_HUFF_TBLS] = {NULL}, *ac[NUM_HUFF_TBLS] = {NULL};
  if (info->progressive_mode || info->arith_code || info->inputctl->has_multiple_scans ||
      !is_known(entropy, info))
    return;
  decoder *ours = info->mem->alloc_small((j_common_ptr)info, JPOOL_IMAGE, sizeof *ours);
  for (int n = 0; n < info->blocks_in_MCU; n++) {
    const jpeg_component_info *component = info->cur_comp_info[info->MCU_membership[n]];
    const int of_dc = component->dc_tbl_no, of_ac = component->ac_tbl_no;
    if (dc[of_dc] == NULL) dc[of_dc] = table_of(info, entropy->dc_tables[n]);
    if (ac[of_ac] == NULL) ac[of_ac] = table_of(info, entropy->ac_tables[n]);
    ours->dc[n] = dc[of_dc];
    ours->ac[n] = ac[of_ac];
  }
  ours->left = (uint64_t)info->MCUs_per_row * info->MCU_rows_in_scan;
  ours->library = entropy->pub.decode_mcu;
  ours->decode = decode_plain;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("bmi2")) ours->decode = decode_bmi2;
#endif
  info->client_data = ours;
  entropy->pub.decode_mcu = decode_mcu;
}

#else

void zarrix_use_huffman(j_decompress_ptr info) { (void)info; }

#endif
