// Registers a buffer type with ggml that stores weights eight rows interleaved and multiplies them with the
// kernels of this crate. ggml's CPU backend keeps such types in a list of "extra" buffer types, where its own
// repacked formats are too.
//
// The bindings do not install the headers for this, so the declarations below are copied from
// ggml/src/ggml-backend-impl.h and ggml/src/ggml-cpu/traits.h of llama.cpp. as_declared() compares them with the
// running library as far as possible; if they differ, nothing is registered.

#include <cstddef>
#include <cstdint>
#include <vector>

struct ggml_tensor;
struct ggml_compute_params;
struct ggml_backend_buffer;
struct ggml_backend_buffer_type;
struct ggml_backend_device;
struct ggml_backend_reg;

typedef ggml_backend_buffer * buffer_t;
typedef ggml_backend_buffer_type * buffer_type_t;
typedef ggml_backend_device * device_t;
typedef ggml_backend_reg * registry_t;

struct ggml_backend_buffer_type {
    const char * (*get_name)(buffer_type_t);
    buffer_t (*alloc_buffer)(buffer_type_t, size_t);
    buffer_t (*alloc_buffer_n)(buffer_type_t, ggml_tensor **, int);
    size_t (*get_alignment)(buffer_type_t);
    size_t (*get_max_size)(buffer_type_t);
    size_t (*get_alloc_size)(buffer_type_t, const ggml_tensor *);
    size_t (*get_alloc_size_n)(buffer_type_t, ggml_tensor **, int);
    bool (*is_host)(buffer_type_t);
    device_t device;
    void * context;
};

struct ggml_backend_buffer {
    void (*free_buffer)(buffer_t);
    void * (*get_base)(buffer_t);
    int (*init_tensor)(buffer_t, ggml_tensor *);
    void (*memset_tensor)(buffer_t, ggml_tensor *, uint8_t, size_t, size_t);
    void (*set_tensor)(buffer_t, ggml_tensor *, const void *, size_t, size_t);
    void (*get_tensor)(buffer_t, const ggml_tensor *, void *, size_t, size_t);
    void * set_tensor_2d;
    void * get_tensor_2d;
    bool (*cpy_tensor)(buffer_t, const ggml_tensor *, ggml_tensor *);
    void * clear;
    void * reset;
    buffer_type_t buft;
    void * context;
    size_t size;
};

namespace ggml::cpu {
class tensor_traits {
  public:
    virtual ~tensor_traits();
    virtual bool work_size(int threads, const ggml_tensor * op, size_t & size) = 0;
    virtual bool compute_forward(ggml_compute_params * params, ggml_tensor * op) = 0;
};

class extra_buffer_type {
  public:
    virtual ~extra_buffer_type();
    virtual bool supports_op(device_t device, const ggml_tensor * op) = 0;
    virtual tensor_traits * get_tensor_traits(const ggml_tensor * op) = 0;
};
}  // namespace ggml::cpu

std::vector<buffer_type_t> & ggml_backend_cpu_get_extra_buffer_types();

extern "C" {
buffer_type_t ggml_backend_cpu_buffer_type(void);
buffer_t ggml_backend_buft_alloc_buffer(buffer_type_t, size_t);
const char * ggml_backend_buft_name(buffer_type_t);
size_t ggml_backend_buft_get_alignment(buffer_type_t);
registry_t ggml_backend_cpu_reg(void);
device_t ggml_backend_reg_dev_get(registry_t, size_t);
void ggml_backend_buffer_free(buffer_t);
buffer_type_t ggml_backend_buffer_get_type(buffer_t);
size_t ggml_backend_buffer_get_size(buffer_t);
void * ggml_backend_buffer_get_base(buffer_t);

// The functions that ggml.rs provides.
struct natter_products {
    bool (*kept)(const ggml_tensor * op, buffer_type_t ours);
    bool (*fits)(const ggml_tensor * op);
    void (*pack)(ggml_tensor * weights, const void * data, size_t offset, size_t size);
    size_t (*room)(const ggml_tensor * op);
    void (*multiply)(const ggml_compute_params * params, ggml_tensor * op);
};
}

namespace {

natter_products rust;

extern ggml_backend_buffer_type ours;

class products : public ggml::cpu::tensor_traits {
    bool work_size(int, const ggml_tensor * op, size_t & size) override {
        size = rust.room(op);
        return true;
    }

    bool compute_forward(ggml_compute_params * params, ggml_tensor * op) override {
        rust.multiply(params, op);
        return true;
    }
};

class weights : public ggml::cpu::extra_buffer_type {
    products computed;

    bool supports_op(device_t, const ggml_tensor * op) override { return rust.kept(op, &ours) && rust.fits(op); }

    ggml::cpu::tensor_traits * get_tensor_traits(const ggml_tensor * op) override {
        return rust.kept(op, &ours) ? &computed : nullptr;
    }
};

// Never destroyed: a thread may still compute while the program ends.
weights & arranged = *new weights;

const char * name(buffer_type_t) { return "CPU_NATTER"; }

size_t alignment(buffer_type_t) { return ggml_backend_buft_get_alignment(ggml_backend_cpu_buffer_type()); }

void set_tensor(buffer_t, ggml_tensor * tensor, const void * data, size_t offset, size_t size) {
    rust.pack(tensor, data, offset, size);
}

buffer_t alloc_buffer(buffer_type_t type, size_t size) {
    buffer_t buffer = ggml_backend_buft_alloc_buffer(ggml_backend_cpu_buffer_type(), size);
    if (buffer != nullptr) {
        buffer->buft = type;
        buffer->init_tensor = nullptr;
        buffer->set_tensor = set_tensor;
        buffer->get_tensor = nullptr;
        buffer->cpy_tensor = nullptr;
    }
    return buffer;
}

ggml_backend_buffer_type ours = {
    name, alloc_buffer, nullptr, alignment, nullptr, nullptr, nullptr, nullptr, nullptr, &arranged,
};

device_t processor() { return ggml_backend_reg_dev_get(ggml_backend_cpu_reg(), 0); }

// Checks that ggml's own buffers and buffer types have the layout declared above.
bool as_declared() {
    for (buffer_type_t type : ggml_backend_cpu_get_extra_buffer_types()) {
        if (type->get_name(type) != ggml_backend_buft_name(type) || type->device != processor()) {
            return false;
        }
    }
    buffer_type_t type = ggml_backend_cpu_buffer_type();
    buffer_t buffer = ggml_backend_buft_alloc_buffer(type, 4096);
    if (buffer == nullptr) {
        return false;
    }
    bool same = type->get_name(type) == ggml_backend_buft_name(type) &&
                buffer->get_base(buffer) == ggml_backend_buffer_get_base(buffer) &&
                buffer->buft == ggml_backend_buffer_get_type(buffer) &&
                buffer->size == ggml_backend_buffer_get_size(buffer);
    ggml_backend_buffer_free(buffer);
    return same;
}

}  // namespace

// Call this once, before any model is loaded. Returns the buffer type, or null if ggml's layout differs.
extern "C" buffer_type_t natter_products_register(const natter_products * given) {
    if (!as_declared()) {
        return nullptr;
    }
    rust = *given;
    ours.device = processor();
    ggml_backend_cpu_get_extra_buffer_types().push_back(&ours);
    return &ours;
}
