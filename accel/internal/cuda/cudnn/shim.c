//go:build linux && cgo

#include "shim.h"

#include <string.h>

// Numbers of cudnn_graph.h.
enum {
  backend_convolution = 1,
  backend_engine = 2,
  backend_config = 3,
  backend_heuristic = 4,
  backend_plan = 5,
  backend_knob = 7,
  backend_forward = 10,
  backend_backward_filter = 11,
  backend_backward_data = 12,
  backend_graph = 15,
  backend_pack = 16,
  backend_tensor = 17,
  backend_device = 38,
  is_handle = 0,
  is_data_type = 1,
  is_int64 = 3,
  is_float = 4,
  is_pointer = 6,
  is_convolution_mode = 7,
  is_heuristic_mode = 8,
  is_knob_type = 9,
  is_numerical_note = 11,
  is_descriptor = 15,
  is_behavior_note = 19,
  is_char = 24,
  convolution_compute = 100,
  convolution_mode = 101,
  convolution_dilations = 102,
  convolution_strides = 103,
  convolution_post_paddings = 104,
  convolution_pre_paddings = 105,
  convolution_dimensions = 106,
  heuristic_mode = 200,
  heuristic_graph = 201,
  heuristic_results = 202,
  heuristic_device = 204,
  config_engine = 300,
  config_knobs = 302,
  plan_handle = 400,
  plan_config = 401,
  plan_workspace = 402,
  plan_device = 407,
  knob_type = 600,
  knob_value = 601,
  forward_alpha = 700,
  forward_beta = 701,
  forward_convolution = 702,
  forward_w = 703,
  forward_x = 704,
  forward_y = 705,
  data_alpha = 706,
  data_beta = 707,
  data_convolution = 708,
  data_w = 709,
  data_dx = 710,
  data_dy = 711,
  filter_alpha = 712,
  filter_beta = 713,
  filter_convolution = 714,
  filter_dw = 715,
  filter_x = 716,
  filter_dy = 717,
  graph_handle = 800,
  graph_operations = 801,
  tensor_alignment = 900,
  tensor_type = 901,
  tensor_dimensions = 902,
  tensor_strides = 903,
  tensor_id = 906,
  pack_ids = 1000,
  pack_pointers = 1001,
  pack_workspace = 1003,
  engine_number = 1301,
  engine_notes = 1303,
  engine_behavior = 1305,
  device_json = 2702,
  cross_correlation = 1,
  type_float = 0,
};

// Ids of the tensors.
enum { id_x = 1, id_w = 2, id_y = 3 };

enum { forward, input_gradient, weight_gradient };

#define NAME(name, parameters) #name,
const char *const quern_dnn_symbols[] = {FUNCTIONS(NAME) "cudnnGetErrorString", "cudnnGetLastErrorString", NULL};
#undef NAME

const char *quern_dnn_status(table *t, int status) { return t->cudnnGetErrorString(status); }

void quern_dnn_words(table *t, char *text, size_t bytes) { t->cudnnGetLastErrorString(text, bytes); }

int quern_dnn_create(table *t, handle *library) { return t->cudnnCreate(library); }

int quern_dnn_destroy(table *t, handle library) { return t->cudnnDestroy(library); }

// CALL returns with the status and the name of a call that fails.
#define CALL(name, ...) \
  do { \
    int status = t->name(__VA_ARGS__); \
    if (status) { \
      *call = #name; \
      return status; \
    } \
  } while (0)

// DO returns with the status of a function of this file that fails.
#define DO(function, ...) \
  do { \
    int status = function(t, __VA_ARGS__, call); \
    if (status) return status; \
  } while (0)

#define SET(d, attribute, type, count, values) CALL(cudnnBackendSetAttribute, d, attribute, type, count, values)

int quern_dnn_device(table *t, const char *json, handle *device, const char **call) {
  CALL(cudnnBackendCreateDescriptor, backend_device, device);
  SET(*device, device_json, is_char, (int64_t)strlen(json), json);
  CALL(cudnnBackendFinalize, *device);
  return 0;
}

// A tensor in row-major order or with the channels last.
static int tensor(table *t, handle *d, int64_t id, int type, int channels_last, const int64_t dimensions[4], int64_t align, const char **call) {
  int64_t channels = dimensions[1], rows = dimensions[2], columns = dimensions[3];
  int64_t strides[4] = {channels * rows * columns, rows * columns, columns, 1};
  if (channels_last) {
    strides[1] = 1;
    strides[2] = columns * channels;
    strides[3] = channels;
  }
  CALL(cudnnBackendCreateDescriptor, backend_tensor, d);
  SET(*d, tensor_type, is_data_type, 1, &type);
  SET(*d, tensor_dimensions, is_int64, 4, dimensions);
  SET(*d, tensor_strides, is_int64, 4, strides);
  SET(*d, tensor_id, is_int64, 1, &id);
  SET(*d, tensor_alignment, is_int64, 1, &align);
  CALL(cudnnBackendFinalize, *d);
  return 0;
}

static int operator_of(table *t, const convolution *c, handle *d, const char **call) {
  int64_t dimensions = 2;
  int compute = type_float, mode = cross_correlation;
  CALL(cudnnBackendCreateDescriptor, backend_convolution, d);
  SET(*d, convolution_dimensions, is_int64, 1, &dimensions);
  SET(*d, convolution_compute, is_data_type, 1, &compute);
  SET(*d, convolution_mode, is_convolution_mode, 1, &mode);
  SET(*d, convolution_pre_paddings, is_int64, 2, c->padding);
  SET(*d, convolution_post_paddings, is_int64, 2, c->padding);
  SET(*d, convolution_dilations, is_int64, 2, c->dilation);
  SET(*d, convolution_strides, is_int64, 2, c->stride);
  CALL(cudnnBackendFinalize, *d);
  return 0;
}

// The ids of an operation's attributes for each kind.
static const struct {
  int backend, alpha, beta, convolution, x, w, y;
} kinds[] = {
    [forward] = {backend_forward, forward_alpha, forward_beta, forward_convolution, forward_x, forward_w, forward_y},
    [input_gradient] = {backend_backward_data, data_alpha, data_beta, data_convolution, data_dx, data_w, data_dy},
    [weight_gradient] = {backend_backward_filter, filter_alpha, filter_beta, filter_convolution, filter_x, filter_dw, filter_dy},
};

int quern_dnn_describe(table *t, handle library, const convolution *c, descriptors *d, const char **call) {
  DO(tensor, &d->x, id_x, c->type, c->channels_last, c->x, c->align_x);
  DO(tensor, &d->w, id_w, c->type, c->channels_last, c->w, c->align_w);
  DO(tensor, &d->y, id_y, c->type, c->channels_last, c->y, c->align_y);
  DO(operator_of, c, &d->convolution);
  float one = 1, zero = 0;
  CALL(cudnnBackendCreateDescriptor, kinds[c->kind].backend, &d->operation);
  SET(d->operation, kinds[c->kind].alpha, is_float, 1, &one);
  SET(d->operation, kinds[c->kind].beta, is_float, 1, &zero);
  SET(d->operation, kinds[c->kind].convolution, is_descriptor, 1, &d->convolution);
  SET(d->operation, kinds[c->kind].x, is_descriptor, 1, &d->x);
  SET(d->operation, kinds[c->kind].w, is_descriptor, 1, &d->w);
  SET(d->operation, kinds[c->kind].y, is_descriptor, 1, &d->y);
  CALL(cudnnBackendFinalize, d->operation);
  CALL(cudnnBackendCreateDescriptor, backend_graph, &d->graph);
  SET(d->graph, graph_operations, is_descriptor, 1, &d->operation);
  if (library) SET(d->graph, graph_handle, is_handle, 1, &library);
  CALL(cudnnBackendFinalize, d->graph);
  return 0;
}

static void destroy(table *t, handle d) {
  if (d) t->cudnnBackendDestroyDescriptor(d);
}

void quern_dnn_forget(table *t, descriptors *d) {
  destroy(t, d->graph);
  destroy(t, d->operation);
  destroy(t, d->convolution);
  destroy(t, d->x);
  destroy(t, d->w);
  destroy(t, d->y);
  destroy(t, d->device);
  memset(d, 0, sizeof *d);
}

// knobs reads how an engine is configured.
static int knobs(table *t, engine *w, const char **call) {
  handle choices[max_knobs];
  int created = 0, status = 0;
  int64_t n = 0;
  for (; !status && created < max_knobs; created += !status) status = t->cudnnBackendCreateDescriptor(backend_knob, &choices[created]);
  *call = "cudnnBackendCreateDescriptor";
  if (!status) {
    *call = "cudnnBackendGetAttribute";
    status = t->cudnnBackendGetAttribute(w->config, config_knobs, is_descriptor, max_knobs, &n, choices);
  }
  if (n > max_knobs) n = max_knobs;
  for (int64_t i = 0, one; !status && i < n; i++) {
    status = t->cudnnBackendGetAttribute(choices[i], knob_type, is_knob_type, 1, &one, &w->knobs[i].type);
    if (!status) status = t->cudnnBackendGetAttribute(choices[i], knob_value, is_int64, 1, &one, &w->knobs[i].value);
    if (!status) w->known = (int)i + 1;
  }
  while (created) destroy(t, choices[--created]);
  return status;
}

static int results(table *t, handle heuristic, engine *engines, int *count, const char **call) {
  int64_t found = 0;
  handle configs[max_engines];
  CALL(cudnnBackendGetAttribute, heuristic, heuristic_results, is_descriptor, 0, &found, NULL);
  if (found > max_engines) found = max_engines;
  for (int64_t i = 0; i < found; i++) {
    CALL(cudnnBackendCreateDescriptor, backend_config, &engines[i].config);
    configs[i] = engines[i].config;
    *count = i + 1;
  }
  if (!found) return 0;
  CALL(cudnnBackendGetAttribute, heuristic, heuristic_results, is_descriptor, *count, &found, configs);
  for (; *count > found; --*count) destroy(t, engines[*count - 1].config);
  for (int64_t i = 0; i < found; i++) {
    enum { most_notes = 32 };
    int64_t n = 0;
    int notes[most_notes];
    CALL(cudnnBackendCreateDescriptor, backend_engine, &engines[i].engine);
    CALL(cudnnBackendGetAttribute, engines[i].config, config_engine, is_descriptor, 1, &n, &engines[i].engine);
    CALL(cudnnBackendGetAttribute, engines[i].engine, engine_number, is_int64, 1, &n, &engines[i].number);
    CALL(cudnnBackendGetAttribute, engines[i].engine, engine_notes, is_numerical_note, most_notes, &n, notes);
    for (int64_t j = 0; j < n && j < most_notes; j++) engines[i].notes |= 1u << notes[j];
    CALL(cudnnBackendGetAttribute, engines[i].engine, engine_behavior, is_behavior_note, most_notes, &n, notes);
    for (int64_t j = 0; j < n && j < most_notes; j++) engines[i].behavior |= 1u << notes[j];
    DO(knobs, &engines[i]);
  }
  return 0;
}

int quern_dnn_engines(table *t, const descriptors *d, int mode, engine *engines, int *count, const char **call) {
  handle heuristic;
  *count = 0;
  memset(engines, 0, max_engines * sizeof *engines);
  CALL(cudnnBackendCreateDescriptor, backend_heuristic, &heuristic);
  int status = t->cudnnBackendSetAttribute(heuristic, heuristic_graph, is_descriptor, 1, &d->graph);
  if (!status) status = t->cudnnBackendSetAttribute(heuristic, heuristic_mode, is_heuristic_mode, 1, &mode);
  if (!status && d->device) status = t->cudnnBackendSetAttribute(heuristic, heuristic_device, is_descriptor, 1, &d->device);
  *call = "cudnnBackendSetAttribute";
  if (!status) {
    *call = "cudnnBackendFinalize";
    status = t->cudnnBackendFinalize(heuristic);
  }
  if (!status) status = results(t, heuristic, engines, count, call);
  destroy(t, heuristic);
  return status;
}

int quern_dnn_plan(table *t, handle library, const descriptors *d, engine *w, const char **call) {
  int64_t n;
  CALL(cudnnBackendCreateDescriptor, backend_plan, &w->plan);
  SET(w->plan, plan_config, is_descriptor, 1, &w->config);
  if (library) SET(w->plan, plan_handle, is_handle, 1, &library);
  if (d->device) SET(w->plan, plan_device, is_descriptor, 1, &d->device);
  CALL(cudnnBackendFinalize, w->plan);
  CALL(cudnnBackendGetAttribute, w->plan, plan_workspace, is_int64, 1, &n, &w->workspace);
  return 0;
}

void quern_dnn_drop(table *t, engine *w) {
  destroy(t, w->plan);
  destroy(t, w->engine);
  destroy(t, w->config);
  memset(w, 0, sizeof *w);
}

static int execute(table *t, handle library, const engine *w, handle pack, const void *const pointers[3], const void *work, const char **call) {
  static const int64_t ids[3] = {id_x, id_w, id_y};
  SET(pack, pack_ids, is_int64, 3, ids);
  SET(pack, pack_pointers, is_pointer, 3, pointers);
  SET(pack, pack_workspace, is_pointer, 1, &work);
  CALL(cudnnBackendFinalize, pack);
  CALL(cudnnBackendExecute, library, w->plan, pack);
  return 0;
}

int quern_dnn_run(table *t, handle library, const engine *w, address x, address filter, address y, address work, handle stream, const char **call) {
  handle pack;
  const void *pointers[3] = {(void *)x, (void *)filter, (void *)y};
  CALL(cudnnSetStream, library, stream);
  CALL(cudnnBackendCreateDescriptor, backend_pack, &pack);
  int status = execute(t, library, w, pack, pointers, (void *)work, call);
  destroy(t, pack);
  return status;
}
