// The client of the stateless revision.
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { claim, walk } from './client.mjs';

const c = new Client({ name: 'check', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
await c.connect(new StdioClientTransport({ command: process.argv[2], args: ['mcp'], cwd: process.argv[3] }));
claim('the stateless revision is spoken', c.getProtocolEra() === 'modern', c.getProtocolEra());
await walk(c, (params, options) => c.callTool(params, options));
