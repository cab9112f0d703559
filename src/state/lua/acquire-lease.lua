--[[ acquire-lease: the right to sweep a list, for whoever comes first, with a fencing token that only ever grows.
  Atomic because: two processes must not both find the lease free; and a token must be younger than every earlier one.
  KEYS 1 lease · 2 fence    ARGV 1 life in ms
  RETURN {"acquired", token} · {"held", token of the holder, ms left}    Cost O(1). ]]
local holder = redis.call('GET', KEYS[1])
if holder then return { 'held', holder, redis.call('PTTL', KEYS[1]) } end
local token = tostring(redis.call('INCR', KEYS[2]))
redis.call('SET', KEYS[1], token, 'PX', ARGV[1])
return { 'acquired', token }
