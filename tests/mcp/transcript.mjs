// The eight calls of transcript.py with the official SDK: it gives up after 60 s without a word. Prints "ok NAME".
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { claim, said } from './client.mjs';

const work = mkdtempSync('/tmp/gpulocw-agent-');
for (const f of ['scale.ptx', 'scale.cu']) cpSync(`${process.argv[3]}/tests/source/${f}`, `${work}/${f}`);
const c = new Client({ name: 'agent', version: '1' });
await c.connect(new StdioClientTransport({ command: process.argv[2], args: ['mcp', '--root', work], cwd: '/' }));
let calls = 0, longest = 0;
async function tool(name, args) {
  calls++;
  const r = await c.callTool({ name, arguments: args }, undefined, { timeout: 60000, resetTimeoutOnProgress: true, onprogress: () => {} });
  longest = Math.max(longest, JSON.stringify(r).length);
  if (r.isError) throw new Error(r.content[0].text);
  return said(r);
}
try {
  claim('tools/list has at most 20,000 characters', JSON.stringify((await c.listTools()).tools).length <= 20000);
  const file = 'scale.ptx', kernel = 'tiles', device = 'sim:maxwell-titanx+l1';
  await tool('analyze', { file, kernel });
  await tool('launch', { file, kernel, output: 'scale.launch.json' });
  const tuned = await tool('tune', { file, kernel, device, budget: 16, output: 's.json' });
  claim('tune recommends', tuned.summary.gain > 1 && tuned.next.tool === 'rewrite', tuned);
  const made = await tool('rewrite', { ...tuned.next.arguments, output: 'tuned.ptx' });
  claim('the rewrite is written and proven', existsSync(`${work}/tuned.ptx`) && made.summary.proof.verdict === 'holds', made);
  const edits = await tool('source', { file: 's.json' });
  claim('source has lines to change', edits.summary.kernels[0].advice.some((a) => a.line), edits);
  claim('in eight calls of at most 4,000 characters', calls <= 8 && longest <= 4000, [calls, longest]);
} catch (e) { claim('the transcript', false, String(e)); }
await c.close();
rmSync(work, { recursive: true });
