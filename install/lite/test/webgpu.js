// Runs in a Web Worker: times matrix multiplications of float32 with WebGPU, each step with its own wait for the GPU. See webgpu.py.

// A workgroup of 16 × 16 threads computes 64 × 64 elements of c = a·b; each thread computes 4 × 4 of them in registers.
const head = `
@group(0) @binding(0) var<storage, read> a: array<vec4f>;
@group(0) @binding(1) var<storage, read> b: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> c: array<vec4f>;
override n: u32; // a multiple of 64
`;
const SHADERS = {
  // Threads read a and b through memory that their workgroup shares, as GPUs need.
  shared: `${head}
var<workgroup> left: array<vec4f, 256>; // 64 rows of 16 columns of a
var<workgroup> right: array<vec4f, 256>; // 16 rows of 64 columns of b
@compute @workgroup_size(16, 16)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
  let row = group.y * 64; let quads = n / 4; let column = group.x * 16;
  let id = local.y * 16 + local.x;
  var sum: array<vec4f, 4>;
  for (var k = 0u; k < n; k += 16) {
    left[id] = a[(row + id / 4) * quads + k / 4 + id % 4];
    right[id] = b[(k + id / 16) * quads + column + id % 16];
    workgroupBarrier();
    for (var j = 0u; j < 4; j++) {
      let b0 = right[(4 * j) * 16 + local.x]; let b1 = right[(4 * j + 1) * 16 + local.x];
      let b2 = right[(4 * j + 2) * 16 + local.x]; let b3 = right[(4 * j + 3) * 16 + local.x];
      for (var i = 0u; i < 4; i++) {
        let l = left[(local.y * 4 + i) * 4 + j];
        sum[i] += l.x * b0 + l.y * b1 + l.z * b2 + l.w * b3;
      }
    }
    workgroupBarrier();
  }
  for (var i = 0u; i < 4; i++) { c[(row + local.y * 4 + i) * quads + column + local.x] = sum[i]; }
}`,
  // Threads read a and b where they are, which is better for software that emulates a GPU on a CPU with caches.
  direct: `${head}
@compute @workgroup_size(16, 16)
fn main(@builtin(global_invocation_id) global: vec3u) {
  let quads = n / 4; let row = global.y * 4; let column = global.x;
  var sum: array<vec4f, 4>;
  for (var k = 0u; k < quads; k++) {
    let b0 = b[(4 * k) * quads + column]; let b1 = b[(4 * k + 1) * quads + column];
    let b2 = b[(4 * k + 2) * quads + column]; let b3 = b[(4 * k + 3) * quads + column];
    for (var i = 0u; i < 4; i++) {
      let l = a[(row + i) * quads + k];
      sum[i] += l.x * b0 + l.y * b1 + l.z * b2 + l.w * b3;
    }
  }
  for (var i = 0u; i < 4; i++) { c[(row + i) * quads + column] = sum[i]; }
}`
};

const median = times => times.sort((x, y) => x - y)[times.length >> 1];
const timed = async f => { const start = performance.now(); await f(); return performance.now() - start; };

// Sends an object for the adapter, then one for each size. Repetitions end after some seconds, since software is slow.
async function measure(sizes, repetitions, seconds) {
  const adapter = await navigator.gpu?.requestAdapter();
  if (!adapter) {
    throw new Error(navigator.gpu ? 'requestAdapter returns null' : 'there is no navigator.gpu in Web Workers');
  }
  const device = await adapter.requestDevice();
    const { vendor, architecture, description, isFallbackAdapter } = adapter.info;
  const result = { vendor, architecture, description, fallback: isFallbackAdapter, suspending: typeof WebAssembly.Suspending === 'function' };
  const finish = () => device.queue.onSubmittedWorkDone();
  const small = device.createBuffer({ size: 4, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
  const roundTrip = async () => {
    device.queue.writeBuffer(small, 0, new Float32Array(1));
    await small.mapAsync(GPUMapMode.READ);
    small.unmap();
  };
  const trips = [];
  for (let i = 0; i < 50; i++) {
    trips.push(await timed(roundTrip));
  }
  result.roundTrip = median(trips);
  postMessage(result);
  const pipelines = {};
  for (const [name, code] of Object.entries(SHADERS)) {
    pipelines[name] = n => device.createComputePipelineAsync({
      layout: 'auto', compute: { module: device.createShaderModule({ code }), entryPoint: 'main', constants: { n } }
    });
  }
  for (const n of sizes) {
    const size = 4 * n * n;
    const values = seed => Float32Array.from({ length: n * n }, (_, i) => ((i * seed) % 17 - 8) / 8);
    const left = values(7), right = values(11), product = new Float32Array(n * n);
    const { STORAGE, COPY_DST, COPY_SRC, MAP_READ } = GPUBufferUsage;
    const [a, b, c, out] = [STORAGE | COPY_DST, STORAGE | COPY_DST, STORAGE | COPY_SRC, COPY_DST | MAP_READ].map(
      usage => device.createBuffer({ size, usage }));
    const row = { n, upload: [], download: [], shared: [], direct: [] };
    for (const [name, create] of Object.entries(pipelines)) {
      const pipeline = await create(n);
      const group = device.createBindGroup({
        layout: pipeline.getBindGroupLayout(0), entries: [a, b, c].map((buffer, binding) => ({ binding, resource: { buffer } }))
      });
      const end = performance.now() + 1000 * seconds;
      for (let i = 0; i <= repetitions && (i < 2 || performance.now() < end); i++) {
        const upload = await timed(() => {
          device.queue.writeBuffer(a, 0, left);
          device.queue.writeBuffer(b, 0, right);
          return finish();
        });
        const compute = await timed(() => {
          const encoder = device.createCommandEncoder();
          const pass = encoder.beginComputePass();
          pass.setPipeline(pipeline);
          pass.setBindGroup(0, group);
          pass.dispatchWorkgroups(n / 64, n / 64);
          pass.end();
          device.queue.submit([encoder.finish()]);
          return finish();
        });
        const download = await timed(async () => {
          const encoder = device.createCommandEncoder();
          encoder.copyBufferToBuffer(c, 0, out, 0, size);
          device.queue.submit([encoder.finish()]);
          await out.mapAsync(GPUMapMode.READ);
          product.set(new Float32Array(out.getMappedRange()));
          out.unmap();
        });
        if (i > 0) { // the first run compiles
          row.upload.push(upload);
          row[name].push(compute);
          row.download.push(download);
        }
      }
      for (const [i, j] of [[0, 0], [n - 1, n - 1], [n >> 1, 1]]) {
        let want = 0;
        for (let k = 0; k < n; k++) {
          want += left[i * n + k] * right[k * n + j];
        }
        if (Math.abs(product[i * n + j] - want) > 1e-3 * n) {
          throw new Error(`${name}, ${n}: element ${i}, ${j} is ${product[i * n + j]}, want ${want}`);
        }
      }
    }
    [a, b, c, out].forEach(buffer => buffer.destroy());
    for (const step of ['upload', 'shared', 'direct', 'download']) {
      row[step] = median(row[step]);
    }
    postMessage(row);
  }
}

onmessage = event => measure(...event.data).catch(error => postMessage({ missing: String(error) }));
