// What an agent does, for either client: prints "ok NAME" or "not ok NAME".
export function claim(name, good, why) {
  console.log(`${good ? 'ok' : 'not ok'} ${name}`);
  if (!good) { console.log(JSON.stringify(why)); process.exitCode = 1; }
}
// An answer is one JSON text, or words where the call failed.
export const said = (r) => JSON.parse(r.content[0].text);
export async function walk(c, call) {
  claim('the server says who it is', c.getServerVersion().name === 'gpulocw', c.getServerVersion());
  const tools = (await c.listTools()).tools.map((t) => t.name);
  claim('the tools are listed', ['analyze', 'run', 'sweep', 'tune', 'rewrite', 'check'].every((t) => tools.includes(t)), tools);
  const run = await call({ name: 'run', arguments: { file: 'kernels/stride_4.ptx', bypass: 'l1', pi: 1 } });
  claim('a call passes the client\'s checks of its schema', said(run).exit === 0 && !run.isError, run);
  claim('the summary has the time, labelled', said(run).summary.time_ns.origin === 'simulated', said(run));
  const whole = JSON.parse((await c.readResource({ uri: said(run).document })).contents[0].text);
  claim('the whole document is a resource', whole.format === 'gpulocw-result', whole.format);
  const steps = [];
  const sweep = await call({ name: 'sweep', arguments: { file: 'kernels/atax.ptx' } }, { onprogress: (p) => steps.push(p.progress) });
  claim('progress grows to its end', steps.length > 1 && steps.every((s, i) => !i || s > steps[i - 1]), steps);
  claim('the curve has its verdict', said(sweep).summary.verdict.length > 0, sweep);
  const stop = new AbortController();
  const long = call({ name: 'tune', arguments: { file: 'kernels/gesummv.ptx', exhaustive: true, combine: 3, exact: true } },
    { signal: stop.signal, onprogress: () => stop.abort() });
  claim('long work is cancelled', await long.then(() => false, () => true));
  const bad = await call({ name: 'run', arguments: { file: 'kernels/none.ptx' } });
  claim('a failure is told to the model', bad.isError && bad.content[0].text.includes('none.ptx'), bad);
  await c.close();
}
