/* Calls libjpeg for image/jpeg.rs.
 *
 * Every error of libjpeg, and every warning while it decodes, comes back by a longjmp that leaves
 * frames of C only, and becomes a status and a message. Memory is that of malloc; what a header asks
 * for is compared with what the caller expects before any of it. */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "jpeglib.h"
#include "jerror.h"
#include "jpegint.h"

#include "huffman.h"
#include "jpeg.h"
#include "kernels.h"

/* The standard has at most some dozens for an image; each may cost a pass over all coefficients. */
enum { MOST_SCANS = 100, POLL_ROWS = 64, ROWS_AT_ONCE = 16 };

typedef struct {
  struct jpeg_error_mgr base;
  jmp_buf leave;
  int status;
  char *message;
} failure;

static void leave(failure *fault, int status) {
  fault->status = status;
  longjmp(fault->leave, 1);
}

static void on_error(j_common_ptr info) {
  failure *fault = (failure *)info->err;
  char text[JMSG_LENGTH_MAX];
  fault->base.format_message(info, text);
  snprintf(fault->message, ZARRIX_MESSAGE, "%.*s", ZARRIX_MESSAGE - 1, text);
  leave(fault, fault->base.msg_code == JERR_OUT_OF_MEMORY ? ZARRIX_MEMORY : ZARRIX_CORRUPT);
}

static void on_message(j_common_ptr info, int level) {
  if (level < 0) on_error(info);
}

static void say(failure *fault, const char *text) {
  snprintf(fault->message, ZARRIX_MESSAGE, "%s", text);
  leave(fault, ZARRIX_CORRUPT);
}

static struct jpeg_error_mgr *prepare(failure *fault, char *message) {
  struct jpeg_error_mgr *base = jpeg_std_error(&fault->base);
  base->error_exit = on_error;
  base->emit_message = on_message;
  fault->status = ZARRIX_OK;
  fault->message = message;
  message[0] = 0;
  return base;
}

typedef struct {
  struct jpeg_source_mgr base;
  const zarrix_piece *next;
  size_t left;
} source;

static boolean next_piece(j_decompress_ptr info) {
  source *from = (source *)info->src;
  while (from->left > 0) {
    from->left--;
    zarrix_piece piece = *from->next++;
    if (piece.length > 0) {
      from->base.next_input_byte = piece.bytes;
      from->base.bytes_in_buffer = piece.length;
      return TRUE;
    }
  }
  say((failure *)info->err, "the stream ends early");
  return FALSE;
}

static void skip(j_decompress_ptr info, long count) {
  struct jpeg_source_mgr *from = info->src;
  while (count > 0 && (size_t)count > from->bytes_in_buffer) {
    count -= (long)from->bytes_in_buffer;
    next_piece(info);
  }
  if (count > 0) {
    from->next_input_byte += count;
    from->bytes_in_buffer -= (size_t)count;
  }
}

static void nothing(j_decompress_ptr info) { (void)info; }

static void read_from(j_decompress_ptr info, source *from, const zarrix_piece *pieces, size_t count) {
  memset(from, 0, sizeof *from);
  from->base.init_source = nothing;
  from->base.fill_input_buffer = next_piece;
  from->base.skip_input_data = skip;
  from->base.resync_to_restart = jpeg_resync_to_restart;
  from->base.term_source = nothing;
  from->next = pieces;
  from->left = count;
  info->src = &from->base;
}

typedef struct {
  struct jpeg_progress_mgr base;
  const zarrix_jpeg_read *read;
} progress;

static void on_progress(j_common_ptr common) {
  j_decompress_ptr info = (j_decompress_ptr)common;
  progress *now = (progress *)common->progress;
  failure *fault = (failure *)common->err;
  if (info->input_scan_number > MOST_SCANS) say(fault, "more than 100 scans");
  if (now->base.pass_counter % POLL_ROWS == 0 && now->read->poll(now->read->polled))
    leave(fault, ZARRIX_INTERRUPTED);
}

static void check_header(j_decompress_ptr info, const zarrix_jpeg_read *read) {
  failure *fault = (failure *)info->err;
  if (info->image_width != read->width || info->image_height != read->height) {
    snprintf(fault->message, ZARRIX_MESSAGE, "is %u x %u pixels, and the chunk %u x %u",
             info->image_width, info->image_height, read->width, read->height);
    leave(fault, ZARRIX_CORRUPT);
  }
  if (info->arith_code || info->data_precision != 8) say(fault, "is not Huffman-coded with 8 bits");
  if (info->num_components != (int)read->channels) {
    snprintf(fault->message, ZARRIX_MESSAGE, "has %d components, and the chunk %u",
             info->num_components, read->channels);
    leave(fault, ZARRIX_CORRUPT);
  }
}

/* Decodes rows until `until`, and drops them. */
static void drop_rows(j_decompress_ptr info, JSAMPROW row, JDIMENSION until) {
  while (info->output_scanline < until) jpeg_read_scanlines(info, &row, 1);
}

/* The box in pixels of the output. One MCU more on each side is decoded, so that interpolation
 * between pixels has its neighbours and the box is that of the whole image. */
static void read_box(j_decompress_ptr info, const zarrix_jpeg_read *read) {
  const size_t pixel = (size_t)info->output_components;
  const JDIMENSION wide = (JDIMENSION)(info->max_h_samp_factor * info->min_DCT_scaled_size);
  const JDIMENSION high = (JDIMENSION)(info->max_v_samp_factor * info->min_DCT_scaled_size);
  JDIMENSION first = 0, columns = info->output_width, n;
  JSAMPROW rows[ROWS_AT_ONCE];
  failure *fault = (failure *)info->err;
  if (read->columns == 0 || read->rows == 0 || read->left + read->columns > info->output_width ||
      read->top + read->rows > info->output_height)
    say(fault, "the box is outside of the image");
  if (read->left > wide || read->left + read->columns + wide < columns) {
    JDIMENSION end = read->left + read->columns + wide;
    first = read->left > wide ? read->left - wide : 0;
    columns = (end < columns ? end : columns) - first;
    jpeg_crop_scanline(info, &first, &columns);
  }
  zarrix_use_kernels(info);
  zarrix_use_huffman(info);
  JSAMPROW spare = info->mem->alloc_large((j_common_ptr)info, JPOOL_IMAGE, columns * pixel);
  JDIMENSION whole = read->top / high;
  if (whole > 1) jpeg_skip_scanlines(info, (whole - 1) * high);
  drop_rows(info, spare, read->top);
  const int direct = columns == read->columns;
  const JDIMENSION end = read->top + read->rows;
  while (info->output_scanline < end) {
    uint8_t *to = read->out + (size_t)(info->output_scanline - read->top) * read->stride;
    if (direct) {
      for (n = 0; n < ROWS_AT_ONCE && info->output_scanline + n < end; n++)
        rows[n] = to + n * read->stride;
      jpeg_read_scanlines(info, rows, n);
    } else {
      jpeg_read_scanlines(info, &spare, 1);
      memcpy(to, spare + (size_t)(read->left - first) * pixel, read->columns * pixel);
    }
  }
}

int zarrix_jpeg_decode(const zarrix_jpeg_read *read, char *message) {
  struct jpeg_decompress_struct info;
  failure fault;
  source from;
  progress now;
  memset(&info, 0, sizeof info);
  info.err = prepare(&fault, message);
  if (setjmp(fault.leave)) {
    jpeg_destroy_decompress(&info);
    return fault.status;
  }
  jpeg_create_decompress(&info);
  memset(&now, 0, sizeof now);
  now.base.progress_monitor = on_progress;
  now.read = read;
  info.progress = &now.base;
  if (read->tables.length > 0) {
    read_from(&info, &from, &read->tables, 1);
    if (jpeg_read_header(&info, FALSE) != JPEG_HEADER_TABLES_ONLY)
      say(&fault, "the tables of the configuration are an image");
  }
  read_from(&info, &from, read->pieces, read->n_pieces);
  jpeg_read_header(&info, TRUE);
  check_header(&info, read);
  if (read->stored_space >= 0) info.jpeg_color_space = (J_COLOR_SPACE)read->stored_space;
  info.out_color_space = (J_COLOR_SPACE)read->space;
  info.dct_method = JDCT_ISLOW;
  info.scale_num = 1;
  info.scale_denom = read->reduction;
  info.marker->next_restart_num = read->first_restart;
  jpeg_start_decompress(&info);
  if (info.output_components != (int)read->channels) say(&fault, "has other color components");
  read_box(&info, read);
  if (info.output_scanline == info.output_height) jpeg_finish_decompress(&info);
  jpeg_destroy_decompress(&info);
  return ZARRIX_OK;
}

/* The destination has fixed room; its end is a status, by which the caller makes more. */
static boolean no_room(j_compress_ptr info) {
  leave((failure *)info->err, ZARRIX_FULL);
  return FALSE;
}

static void nothing_written(j_compress_ptr info) { (void)info; }

int zarrix_jpeg_encode(zarrix_jpeg_write *write, char *message) {
  struct jpeg_compress_struct info;
  struct jpeg_destination_mgr to;
  failure fault;
  memset(&info, 0, sizeof info);
  info.err = prepare(&fault, message);
  if (setjmp(fault.leave)) {
    jpeg_destroy_compress(&info);
    return fault.status;
  }
  jpeg_create_compress(&info);
  to.init_destination = nothing_written;
  to.empty_output_buffer = no_room;
  to.term_destination = nothing_written;
  to.next_output_byte = write->out;
  to.free_in_buffer = write->room;
  info.dest = &to;
  info.image_width = write->width;
  info.image_height = write->height;
  info.input_components = (int)write->channels;
  info.in_color_space = (J_COLOR_SPACE)write->space;
  jpeg_c_set_int_param(&info, JINT_COMPRESS_PROFILE, JCP_FASTEST);
  jpeg_set_defaults(&info);
  jpeg_set_colorspace(&info, (J_COLOR_SPACE)write->stored_space);
  jpeg_set_quality(&info, write->quality, TRUE);
  info.dct_method = JDCT_ISLOW;
  info.optimize_coding = write->optimize;
  info.comp_info[0].h_samp_factor = write->horizontal;
  info.comp_info[0].v_samp_factor = write->vertical;
  for (int n = 1; n < info.num_components; n++)
    info.comp_info[n].h_samp_factor = info.comp_info[n].v_samp_factor = 1;
  /* A marker after each row of MCUs, so that a reader can begin at any of them. */
  info.restart_in_rows = 1;
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    size_t row = (size_t)write->width * write->channels;
    JSAMPROW from = (JSAMPROW)(write->pixels + (size_t)info.next_scanline * row);
    jpeg_write_scanlines(&info, &from, 1);
  }
  jpeg_finish_compress(&info);
  write->written = write->room - to.free_in_buffer;
  jpeg_destroy_compress(&info);
  return ZARRIX_OK;
}
