import { expect, describe, it } from 'vitest';
import { NO_COUNTS, type VerifiedList } from '../../../src/delivery/verify/verified.js';
import { useCli } from '../../support/cli.js';
import { eventually } from '../../support/eventually.js';
import { openFeed } from '../../support/feed.js';
import { useMirrors } from '../../support/mirror.js';
import { startOtherCrm } from '../../support/other-crm.js';
import { useRedis } from '../../support/redis.js';
import { stepped } from '../../support/fast-clock.js';

const test = useRedis();
const cli = useCli();
const { absent, admin, schemaName, rows, table, url } = await useMirrors();
