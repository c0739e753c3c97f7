// The client of the revisions that begin with "initialize".
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { walk } from './client.mjs';

const c = new Client({ name: 'check', version: '1' });
await c.connect(new StdioClientTransport({ command: process.argv[2], args: ['mcp'], cwd: process.argv[3] }));
await walk(c, (params, options) => c.callTool(params, undefined, options));
