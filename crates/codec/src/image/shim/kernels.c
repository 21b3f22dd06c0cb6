/* The steps of libjpeg's decoder that take most of its time, with vectors of AVX2.
 *
 * libjpeg-turbo has them in assembler, for which a build needs nasm. These are the same operations
 * in intrinsics, with the same results: the inverse transformation (jidctint), the interpolation of
 * color (jdsample), and the conversion of color (jdcolor). Other processors keep the C of the
 * library. */
#define JPEG_INTERNALS
#include "kernels.h"

#include <stdint.h>

#include "jdct.h"
#include "jdsample.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>
#include <string.h>

/* Constants of jidctint, in 13 bits. */
enum {
  F_0_298 = 2446,
  F_0_390 = 3196,
  F_0_541 = 4433,
  F_0_765 = 6270,
  F_0_899 = 7373,
  F_1_175 = 9633,
  F_1_501 = 12299,
  F_1_847 = 15137,
  F_1_961 = 16069,
  F_2_053 = 16819,
  F_2_562 = 20995,
  F_3_072 = 25172
};

#define WITH_AVX2 __attribute__((target("avx2")))
#define PAIR(a, b) _mm256_set1_epi32((int)(((unsigned)(uint16_t)(b) << 16) | (uint16_t)(a)))

/* The transformation has the eight vectors of a block in four registers: those numbered n and n + 4
 * in the halves of the register n. Most time goes to moves of lanes, of which this needs the fewest. */

/* The lanes of a half in turn: of its first four and its last four. */
WITH_AVX2 static inline __m256i in_turn(__m256i x) {
  const __m128i turn = _mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15);
  return _mm256_shuffle_epi8(x, _mm256_broadcastsi128_si256(turn));
}

/* The two lanes of 16 bits of each lane of 32, exchanged. */
WITH_AVX2 static inline __m256i exchanged(__m256i x) {
  const __m128i turn = _mm_setr_epi8(2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
  return _mm256_shuffle_epi8(x, _mm256_broadcastsi128_si256(turn));
}

/* A lane times 2^13, in 32 bits. */
WITH_AVX2 static inline __m256i widen(__m128i x) {
  return _mm256_slli_epi32(_mm256_cvtepi16_epi32(x), 13);
}

/* Two vectors in 16 bits: the first four lanes of both, and then the last four. */
WITH_AVX2 static inline __m256i descaled(__m256i x, __m256i y, __m256i half, int bits) {
  return _mm256_packs_epi32(_mm256_srai_epi32(_mm256_add_epi32(x, half), bits),
                            _mm256_srai_epi32(_mm256_add_epi32(y, half), bits));
}

/* From vectors as `descaled` leaves them. */
WITH_AVX2 static inline void transposed(__m256i v[4]) {
  __m256i a = in_turn(v[0]), b = in_turn(v[1]), c = in_turn(v[2]), d = in_turn(v[3]);
  __m256i ab = _mm256_unpacklo_epi32(a, b), cd = _mm256_unpacklo_epi32(c, d);
  __m256i ab2 = _mm256_unpackhi_epi32(a, b), cd2 = _mm256_unpackhi_epi32(c, d);
  v[0] = _mm256_unpacklo_epi64(ab, cd);
  v[1] = _mm256_unpackhi_epi64(ab, cd);
  v[2] = _mm256_unpacklo_epi64(ab2, cd2);
  v[3] = _mm256_unpackhi_epi64(ab2, cd2);
}

/* One dimension of the inverse transformation, of columns, eight at a time; they become rows. */
WITH_AVX2 static inline void transform(__m256i v[4], int bits) {
  const __m256i half = _mm256_set1_epi32(1 << (bits - 1));
  const __m256i v26 = in_turn(_mm256_permute4x64_epi64(v[2], 0xd8));
  const __m256i v15 = _mm256_permute4x64_epi64(v[1], 0xd8);
  const __m256i v73 = _mm256_permute4x64_epi64(v[3], 0x72);
  const __m256i v71 = _mm256_unpacklo_epi16(v73, v15), v53 = _mm256_unpackhi_epi16(v15, v73);
  const __m256i z34 = _mm256_add_epi16(v71, exchanged(v53));
  const __m128i v0 = _mm256_castsi256_si128(v[0]), v4 = _mm256_extracti128_si256(v[0], 1);
  __m256i even2 = _mm256_madd_epi16(v26, PAIR(F_0_541, F_0_541 - F_1_847));
  __m256i even3 = _mm256_madd_epi16(v26, PAIR(F_0_541 + F_0_765, F_0_541));
  __m256i even0 = widen(_mm_add_epi16(v0, v4)), even1 = widen(_mm_sub_epi16(v0, v4));
  __m256i t0 = _mm256_add_epi32(even0, even3), t3 = _mm256_sub_epi32(even0, even3);
  __m256i t1 = _mm256_add_epi32(even1, even2), t2 = _mm256_sub_epi32(even1, even2);
  __m256i w3 = _mm256_madd_epi16(z34, PAIR(F_1_175 - F_1_961, F_1_175));
  __m256i w4 = _mm256_madd_epi16(z34, PAIR(F_1_175, F_1_175 - F_0_390));
  __m256i odd0 = _mm256_madd_epi16(v71, PAIR(F_0_298 - F_0_899, -F_0_899));
  __m256i odd3 = _mm256_madd_epi16(v71, PAIR(-F_0_899, F_1_501 - F_0_899));
  __m256i odd1 = _mm256_madd_epi16(v53, PAIR(F_2_053 - F_2_562, -F_2_562));
  __m256i odd2 = _mm256_madd_epi16(v53, PAIR(-F_2_562, F_3_072 - F_2_562));
  odd0 = _mm256_add_epi32(odd0, w3);
  odd1 = _mm256_add_epi32(odd1, w4);
  odd2 = _mm256_add_epi32(odd2, w3);
  odd3 = _mm256_add_epi32(odd3, w4);
  v[0] = descaled(_mm256_add_epi32(t0, odd3), _mm256_add_epi32(t1, odd2), half, bits);
  v[1] = descaled(_mm256_add_epi32(t2, odd1), _mm256_add_epi32(t3, odd0), half, bits);
  v[2] = descaled(_mm256_sub_epi32(t3, odd0), _mm256_sub_epi32(t2, odd1), half, bits);
  v[3] = descaled(_mm256_sub_epi32(t1, odd2), _mm256_sub_epi32(t0, odd3), half, bits);
  transposed(v);
}

/* The factors of a vector, and of that four later, in the halves. */
WITH_AVX2 static inline __m256i factors_of(const ISLOW_MULT_TYPE *table) {
  if (sizeof(ISLOW_MULT_TYPE) == 2)
    return _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)table)),
        _mm_loadu_si128((const __m128i *)(table + 32)), 1);
  __m256i both = _mm256_packs_epi32(_mm256_loadu_si256((const __m256i *)table),
                                    _mm256_loadu_si256((const __m256i *)(table + 32)));
  return _mm256_permute4x64_epi64(both, 0xd8);
}

WITH_AVX2 static void inverse_dct(j_decompress_ptr info, jpeg_component_info *component, JCOEFPTR block,
                        JSAMPARRAY rows, JDIMENSION column) {
  (void)info;
  const ISLOW_MULT_TYPE *table = component->dct_table;
  const __m128i *at = (const __m128i *)block;
  __m256i v[4];
  for (int n = 0; n < 4; n++)
    v[n] = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(at + n)),
                                   _mm_loadu_si128(at + n + 4), 1);
  /* All but the first element. */
  const __m256i others =
      _mm256_setr_epi16(0, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
  __m256i any = _mm256_or_si256(_mm256_and_si256(v[0], others), v[1]);
  any = _mm256_or_si256(any, _mm256_or_si256(v[2], v[3]));
  if (_mm256_testz_si256(any, any)) {
    /* Only the mean is left: (mean * 4 + 16) / 32, as both passes give it. */
    int mean = (int16_t)(block[0] * table[0]);
    mean = (int16_t)(mean * 4);
    mean = ((mean + 16) >> 5) + 128;
    mean = mean < 0 ? 0 : mean > 255 ? 255 : mean;
    for (int n = 0; n < 8; n++) memset(rows[n] + column, mean, 8);
    return;
  }
  for (int n = 0; n < 4; n++) v[n] = _mm256_mullo_epi16(v[n], factors_of(table + 8 * n));
  transform(v, 11);
  transform(v, 18);
  const __m256i center = _mm256_set1_epi8((char)128);
  for (int n = 0; n < 4; n += 2) {
    __m256i four = _mm256_add_epi8(_mm256_packs_epi16(v[n], v[n + 1]), center);
    __m128i below = _mm256_extracti128_si256(four, 1);
    _mm_storel_epi64((__m128i *)(rows[n] + column), _mm256_castsi256_si128(four));
    _mm_storeh_pd((double *)(rows[n + 1] + column), _mm_castsi128_pd(_mm256_castsi256_si128(four)));
    _mm_storel_epi64((__m128i *)(rows[n + 4] + column), below);
    _mm_storeh_pd((double *)(rows[n + 5] + column), _mm_castsi128_pd(below));
  }
}

/* 16 samples from `at`, as 16 bits. */
WITH_AVX2 static inline __m256i samples(const JSAMPLE *at) {
  return _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)at));
}

WITH_AVX2 static inline __m256i tripled(__m256i x) {
  return _mm256_add_epi16(x, _mm256_add_epi16(x, x));
}

/* Two samples for each lane: of `even`, and of `odd` behind it, both divided by 2^bits. */
WITH_AVX2 static inline void store_doubled(JSAMPLE *to, __m256i even, __m256i odd, int bits) {
  odd = _mm256_slli_epi16(_mm256_srli_epi16(odd, bits), 8);
  _mm256_storeu_si256((__m256i *)to, _mm256_or_si256(_mm256_srli_epi16(even, bits), odd));
}

WITH_AVX2 static inline __m256i sums(const JSAMPLE *near, const JSAMPLE *far) {
  return _mm256_add_epi16(tripled(samples(near)), samples(far));
}

/* A row of doubled width: 3 parts of a column and 1 of the next, whose sums of the nearer row times
 * 3 and the farther row are between 0 and 4 * 255. */
WITH_AVX2 static void doubled_rows(const JSAMPLE *near, const JSAMPLE *far, JSAMPLE *out, JDIMENSION width) {
  const __m256i before = _mm256_set1_epi16(8), after = _mm256_set1_epi16(7);
  int last, now = near[0] * 3 + far[0], next = near[1] * 3 + far[1];
  JDIMENSION n = 1;
  out[0] = (JSAMPLE)((now * 4 + 8) >> 4);
  out[1] = (JSAMPLE)((now * 3 + next + 7) >> 4);
  for (; n + 17 <= width; n += 16) {
    __m256i triple = tripled(sums(near + n, far + n));
    __m256i even = _mm256_add_epi16(triple, sums(near + n - 1, far + n - 1));
    __m256i odd = _mm256_add_epi16(triple, sums(near + n + 1, far + n + 1));
    store_doubled(out + 2 * n, _mm256_add_epi16(even, before), _mm256_add_epi16(odd, after), 4);
  }
  last = near[n - 1] * 3 + far[n - 1];
  now = near[n] * 3 + far[n];
  for (; n + 1 < width; n++) {
    next = near[n + 1] * 3 + far[n + 1];
    out[2 * n] = (JSAMPLE)((now * 3 + last + 8) >> 4);
    out[2 * n + 1] = (JSAMPLE)((now * 3 + next + 7) >> 4);
    last = now;
    now = next;
  }
  out[2 * n] = (JSAMPLE)((now * 3 + last + 8) >> 4);
  out[2 * n + 1] = (JSAMPLE)((now * 4 + 7) >> 4);
}

WITH_AVX2 static void upsample_h2v2(j_decompress_ptr info, jpeg_component_info *component, JSAMPARRAY in,
                          JSAMPARRAY *out) {
  for (int row = 0; row < info->max_v_samp_factor; row++) {
    const int near = row / 2, far = row % 2 ? near + 1 : near - 1;
    doubled_rows(in[near], in[far], (*out)[row], component->downsampled_width);
  }
}

WITH_AVX2 static void upsample_h2v1(j_decompress_ptr info, jpeg_component_info *component, JSAMPARRAY in,
                          JSAMPARRAY *out) {
  const __m256i one = _mm256_set1_epi16(1), two = _mm256_set1_epi16(2);
  const JDIMENSION width = component->downsampled_width;
  for (int row = 0; row < info->max_v_samp_factor; row++) {
    const JSAMPLE *from = in[row];
    JSAMPLE *to = (*out)[row];
    JDIMENSION n = 1;
    to[0] = from[0];
    to[1] = (JSAMPLE)((from[0] * 3 + from[1] + 2) >> 2);
    for (; n + 17 <= width; n += 16) {
      __m256i triple = tripled(samples(from + n));
      __m256i even = _mm256_add_epi16(triple, samples(from + n - 1));
      __m256i odd = _mm256_add_epi16(triple, samples(from + n + 1));
      store_doubled(to + 2 * n, _mm256_add_epi16(even, one), _mm256_add_epi16(odd, two), 2);
    }
    for (; n + 1 < width; n++) {
      to[2 * n] = (JSAMPLE)((from[n] * 3 + from[n - 1] + 1) >> 2);
      to[2 * n + 1] = (JSAMPLE)((from[n] * 3 + from[n + 1] + 2) >> 2);
    }
    to[2 * n] = (JSAMPLE)((from[n] * 3 + from[n - 1] + 1) >> 2);
    to[2 * n + 1] = from[n];
  }
}

static inline JSAMPLE limited(int value) { return (JSAMPLE)(value < 0 ? 0 : value > 255 ? 255 : value); }

/* Eight (of 16 bits) of R, G and B, from the distances of Cb and Cr from 128. */
WITH_AVX2 static inline void mixed(__m256i y, __m256i cb, __m256i cr, __m256i *r, __m256i *g,
                                   __m256i *b) {
  const __m256i one = _mm256_set1_epi16(1), half = _mm256_set1_epi32(1 << 15);
  const __m256i green = _mm256_set1_epi32((int)((18734u << 16) | (uint16_t)-22554));
  __m256i cb2 = _mm256_add_epi16(cb, cb), cr2 = _mm256_add_epi16(cr, cr);
  __m256i blue = _mm256_mulhi_epi16(cb2, _mm256_set1_epi16(-14942));
  __m256i red = _mm256_mulhi_epi16(cr2, _mm256_set1_epi16(26345));
  blue = _mm256_srai_epi16(_mm256_add_epi16(blue, one), 1);
  red = _mm256_srai_epi16(_mm256_add_epi16(red, one), 1);
  blue = _mm256_add_epi16(blue, cb2);
  red = _mm256_add_epi16(red, cr);
  __m256i low = _mm256_madd_epi16(_mm256_unpacklo_epi16(cb, cr), green);
  __m256i high = _mm256_madd_epi16(_mm256_unpackhi_epi16(cb, cr), green);
  low = _mm256_srai_epi32(_mm256_add_epi32(low, half), 16);
  high = _mm256_srai_epi32(_mm256_add_epi32(high, half), 16);
  __m256i both = _mm256_sub_epi16(_mm256_packs_epi32(low, high), cr);
  *r = _mm256_add_epi16(y, red);
  *g = _mm256_add_epi16(y, both);
  *b = _mm256_add_epi16(y, blue);
}

/* 16 pixels of three planes, one after the other. */
WITH_AVX2 static inline void store_pixels(JSAMPLE *to, __m128i r, __m128i g, __m128i b) {
  const __m128i r0 = _mm_setr_epi8(0, -1, -1, 1, -1, -1, 2, -1, -1, 3, -1, -1, 4, -1, -1, 5);
  const __m128i g0 = _mm_setr_epi8(-1, 0, -1, -1, 1, -1, -1, 2, -1, -1, 3, -1, -1, 4, -1, -1);
  const __m128i b0 = _mm_setr_epi8(-1, -1, 0, -1, -1, 1, -1, -1, 2, -1, -1, 3, -1, -1, 4, -1);
  const __m128i r1 = _mm_setr_epi8(-1, -1, 6, -1, -1, 7, -1, -1, 8, -1, -1, 9, -1, -1, 10, -1);
  const __m128i g1 = _mm_setr_epi8(5, -1, -1, 6, -1, -1, 7, -1, -1, 8, -1, -1, 9, -1, -1, 10);
  const __m128i b1 = _mm_setr_epi8(-1, 5, -1, -1, 6, -1, -1, 7, -1, -1, 8, -1, -1, 9, -1, -1);
  const __m128i r2 = _mm_setr_epi8(-1, 11, -1, -1, 12, -1, -1, 13, -1, -1, 14, -1, -1, 15, -1, -1);
  const __m128i g2 = _mm_setr_epi8(-1, -1, 11, -1, -1, 12, -1, -1, 13, -1, -1, 14, -1, -1, 15, -1);
  const __m128i b2 = _mm_setr_epi8(10, -1, -1, 11, -1, -1, 12, -1, -1, 13, -1, -1, 14, -1, -1, 15);
#define MIXED(k) \
  _mm_or_si128(_mm_or_si128(_mm_shuffle_epi8(r, r##k), _mm_shuffle_epi8(g, g##k)), \
               _mm_shuffle_epi8(b, b##k))
  _mm_storeu_si128((__m128i *)to, MIXED(0));
  _mm_storeu_si128((__m128i *)to + 1, MIXED(1));
  _mm_storeu_si128((__m128i *)to + 2, MIXED(2));
#undef MIXED
}

WITH_AVX2 static void row_of_rgb(const JSAMPLE *y, const JSAMPLE *cb, const JSAMPLE *cr,
                                 JSAMPLE *to, JDIMENSION width) {
  const __m256i center = _mm256_set1_epi16(128);
  JDIMENSION n = 0;
  for (; n + 16 <= width; n += 16) {
    __m256i r, g, b;
    __m256i bright = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(y + n)));
    __m256i blue = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(cb + n)));
    __m256i red = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(cr + n)));
    mixed(bright, _mm256_sub_epi16(blue, center), _mm256_sub_epi16(red, center), &r, &g, &b);
    __m128i plane[3] = {
        _mm_packus_epi16(_mm256_castsi256_si128(r), _mm256_extracti128_si256(r, 1)),
        _mm_packus_epi16(_mm256_castsi256_si128(g), _mm256_extracti128_si256(g, 1)),
        _mm_packus_epi16(_mm256_castsi256_si128(b), _mm256_extracti128_si256(b, 1))};
    store_pixels(to + 3 * n, plane[0], plane[1], plane[2]);
  }
  for (; n < width; n++) {
    int red = cr[n] - 128, blue = cb[n] - 128;
    to[3 * n] = limited(y[n] + ((91881 * red + 32768) >> 16));
    to[3 * n + 1] = limited(y[n] + ((-22554 * blue - 46802 * red + 32768) >> 16));
    to[3 * n + 2] = limited(y[n] + ((116130 * blue + 32768) >> 16));
  }
}

static void to_rgb(j_decompress_ptr info, JSAMPIMAGE in, JDIMENSION row, JSAMPARRAY out, int count) {
  for (int n = 0; n < count; n++, row++)
    row_of_rgb(in[0][row], in[1][row], in[2][row], out[n], info->output_width);
}

static void use_inverse_dct(j_decompress_ptr info) {
  for (int n = 0; n < info->num_components; n++) {
    jpeg_component_info *component = &info->comp_info[n];
    const JQUANT_TBL *table = component->quant_table;
    int fits = table != NULL && component->DCT_scaled_size == 8 &&
               info->idct->inverse_DCT[n] == jpeg_idct_islow;
    for (int at = 0; fits && at < 64; at++) fits = table->quantval[at] <= 32767;
    if (fits) info->idct->inverse_DCT[n] = inverse_dct;
  }
}

static void use_upsampling(j_decompress_ptr info) {
  my_upsample_ptr upsample = (my_upsample_ptr)info->upsample;
  if (info->min_DCT_scaled_size <= 1) return;
  for (int n = 0; n < info->num_components; n++) {
    const jpeg_component_info *component = &info->comp_info[n];
    const int scale = component->DCT_scaled_size / info->min_DCT_scaled_size;
    const int across = component->h_samp_factor * scale, down = component->v_samp_factor * scale;
    if (!component->component_needed || component->downsampled_width <= 2 ||
        across * 2 != info->max_h_samp_factor || upsample->methods[n] == NULL)
      continue;
    if (down == info->max_v_samp_factor) upsample->methods[n] = upsample_h2v1;
    if (down * 2 == info->max_v_samp_factor) upsample->methods[n] = upsample_h2v2;
  }
}

void zarrix_use_kernels(j_decompress_ptr info) {
  if (!__builtin_cpu_supports("avx2")) return;
  use_inverse_dct(info);
  use_upsampling(info);
  if (info->jpeg_color_space == JCS_YCbCr && info->out_color_space == JCS_RGB)
    info->cconvert->color_convert = to_rgb;
}

#else

void zarrix_use_kernels(j_decompress_ptr info) { (void)info; }

#endif
