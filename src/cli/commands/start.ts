import { ROLES } from '../../app/changefeed.js';
import { openService, runService } from '../../app/process.js';
import { words } from '../arguments.js';
import { defineCommand, option } from '../command.js';

export const start = defineCommand({
  input: { only: option('roles', `only these roles: ${ROLES.join(',')}`, words(...ROLES)) },
  async run({ only = ROLES, config: path }, io) {
    const service = await openService(io, { path });
    await runService(service, { roles: only, signal: io.signal, onReload: (reload) => io.onHangUp(reload) });
  },
});
