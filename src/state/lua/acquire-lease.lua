--[[ acquire-lease: gives the right to sweep a list to the first process that asks, and says in which state it is given.
  Atomic because: two processes must not both find the lease free; and a commit under the lease relies on the last step being this one.
  The token is the client's and random. A counter here would go back with a Redis that loses writes, and give one token to two processes,
  which could then both write. A client that lost the answer sends the command again and finds its own token.
  KEYS 1 lease · 2 state · 3 sweep · 4 log
  ARGV 1 TTL in ms · 2 token, different for every attempt to get the lease · 3 the newest entry of the log that the caller knows ("" for none)
  RETURN {"acquired", state or "", last step of the list or "", id of the server or ""} · {"held", token of the holder, ms left} · {"back"}: the log lacks that entry
  Cost O(1). ]]
--- @include "went-back"
if wentBack(KEYS[4], ARGV[3]) then return { 'back' } end
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[2] then return { 'held', holder, redis.call('PTTL', KEYS[1]) } end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[1])
local server = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)') or ''
return { 'acquired', redis.call('GET', KEYS[2]) or '', redis.call('HGET', KEYS[3], 'step') or '', server }
