--[[ acquire-lease: gives the right to sweep a list to the first process that asks, and says in which state it is given.
  Atomic because: two processes must not both find the lease free; and a commit under the lease relies on the last step being this one.
  The token is the client's and random. A counter here would go back with a Redis that loses writes, and give one token to two processes,
  which could then both write. A client that lost the answer sends the command again and finds its own token.
  KEYS 1 lease · 2 state · 3 sweep
  ARGV 1 TTL in ms · 2 token, different for every attempt to get the lease · 3 the last step of the list that the caller knows ("" for none)
  RETURN {"acquired", state or "", last step of the list or ""} · {"held", token of the holder, ms left}
       · {"back"}: Redis went back to before that step · {"elsewhere"}: an epoch must begin on this server first
  Cost O(1). ]]
--- @include "server"
--- @include "step"
local step = redis.call('HGET', KEYS[3], 'step') or ''
if lacksStep(KEYS[3], ARGV[3]) then return { 'back' } end
if isElsewhere(KEYS[2]) then return { 'elsewhere' } end
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[2] then return { 'held', holder, redis.call('PTTL', KEYS[1]) } end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[1])
return { 'acquired', redis.call('GET', KEYS[2]) or '', step }
