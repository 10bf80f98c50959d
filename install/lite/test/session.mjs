// The kernel for browsers, under Node. It takes the paths of wasm_exec.js and of the program from the command line.
import { readFileSync } from "node:fs";
import { webcrypto } from "node:crypto";
import fs from "node:fs";
import { dirname, join } from "node:path";
import { addVectorFunctions } from "../src/simd.mjs";
globalThis.crypto ??= webcrypto;
globalThis.fs = fs;
globalThis.process = process;
await import(process.argv[2]);
const messages = [];
let wake = () => {};
const ready = new Promise((resolve) => {
  globalThis.quernHost = { send: (text) => { messages.push(JSON.parse(text)); wake(); }, ready: resolve };
});
const go = new Go();
go.argv = ["quern"];
// As in a browser: what the start does with variables is a part of what every notebook needs.
go.env = { HOME: "/", TMPDIR: "/tmp", USER: "user" };
const connect = addVectorFunctions(go.importObject);
const module = new WebAssembly.Module(readFileSync(process.argv[3]));
// The rest of a program that was divided is beside it.
const rest = WebAssembly.Module.imports(module).find((i) => i.module === "rest");
if (rest) {
  const load = () => {
    const file = join(dirname(process.argv[3]), `rest-${rest.name}.wasm`);
    new WebAssembly.Instance(new WebAssembly.Module(readFileSync(file)), { first: exports });
    exports.loaded.value = 1;
  };
  go.importObject.rest = { [rest.name]: load };
}
const instance = await WebAssembly.instantiate(module, go.importObject);
export const exports = instance.exports;
connect(exports.mem);
go.run(instance);
await ready;
const session = webcrypto.randomUUID();
export function send(channel, type, content) {
  const id = webcrypto.randomUUID();
  // As JupyterLab writes it.
  const header = { date: new Date().toISOString(), msg_id: id, msg_type: type, session, username: "", subshell_id: null, version: "5.2" };
  const metadata = { deletedCells: [], recordTiming: false, cellId: id };
  quernKernel.receive(JSON.stringify({ channel, header, parent_header: {}, metadata, content }), []);
  return id;
}
export async function reply(id, type) {
  for (;;) {
    const found = messages.find((m) => m.parent_header.msg_id === id && m.header.msg_type === type);
    if (found) return found.content;
    await new Promise((resolve) => (wake = resolve));
  }
}
export async function execute(code, during = () => {}) {
  const start = performance.now();
  const id = send("shell", "execute_request", { code, silent: false, store_history: true, user_expressions: {}, allow_stdin: false, stop_on_error: true });
  during();
  const { status, ename, evalue } = await reply(id, "execute_reply");
  const own = messages.filter((m) => m.parent_header.msg_id === id);
  const text = own.filter((m) => m.header.msg_type === "stream").map((m) => m.content.text).join("");
  const result = own.find((m) => m.header.msg_type === "execute_result")?.content.data["text/plain"];
  const updates = own.filter((m) => m.header.msg_type.includes("display_data")).length;
  return { status, ename, evalue, text, result, updates, ms: Math.round(performance.now() - start) };
}
