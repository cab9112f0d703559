--[[ scan-images: reads some stored records of a list and the end of the log, at the same moment.
  Atomic because: an image must contain exactly the changes that the log has up to that end; otherwise a snapshot would repeat or
  lose a change.
  HSCAN cursors are valid only while the server runs: after a restart the scan starts again.
  KEYS 1 records · 2 log · 3 sweep
  ARGV 1 cursor · 2 records wanted, roughly · 3 the server that gave the cursor ("" for none)
  RETURN next cursor ("0" after the last), records (field, packed, …), end of the log or "", last sweep or "", server
  Cost O(records wanted). Never calls TIME. ]]
local server = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)') or ''
local cursor = (ARGV[3] == '' or ARGV[3] == server) and ARGV[1] or '0'
local scanned = redis.call('HSCAN', KEYS[1], cursor, 'COUNT', ARGV[2])
local newest = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)[1]
return { scanned[1], scanned[2], newest and newest[1] or '', redis.call('HGET', KEYS[3], 'lastSweep') or '', server }
