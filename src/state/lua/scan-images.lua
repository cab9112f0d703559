--[[ scan-images: some records of a list as they are remembered, and the end of the log, both of the same moment.
  Atomic because: what an image shows must be what the log had told by then; otherwise a change would be told twice or not.
  KEYS 1 records · 2 log · 3 sweep
  ARGV 1 cursor · 2 records wanted, roughly · 3 the server the cursor is from ("" where there is none)
  RETURN next cursor ("0": these were the last), records (key, packed, …), end of the log or "", last sweep or "", server
  A server that was started anew has laid its hashes out anew: then the scan begins anew.
  Cost O(records wanted). Never calls TIME. ]]
local server = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)') or ''
local cursor = (ARGV[3] == '' or ARGV[3] == server) and ARGV[1] or '0'
local scanned = redis.call('HSCAN', KEYS[1], cursor, 'COUNT', ARGV[2])
local newest = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)[1]
return { scanned[1], scanned[2], newest and newest[1] or '', redis.call('HGET', KEYS[3], 'lastSweep') or '', server }
