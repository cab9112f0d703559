--[[ acquire-lease: the right to sweep a list, for whoever comes first, with a fencing token that only ever grows.
  Atomic because: two processes must not both find the lease free; and a token must be younger than every earlier one.
  Where there is no counter it starts anywhere: a workspace that was forgotten must not give out its old tokens once more,
  or a process that slept through it could still write.
  KEYS 1 lease · 2 fence    ARGV 1 life in ms · 2 first token where there is no counter
  RETURN {"acquired", token} · {"held", token of the holder, ms left}    Cost O(1). ]]
local holder = redis.call('GET', KEYS[1])
if holder then return { 'held', holder, redis.call('PTTL', KEYS[1]) } end
redis.call('SET', KEYS[2], ARGV[2], 'NX')
local token = tostring(redis.call('INCR', KEYS[2]))
redis.call('SET', KEYS[1], token, 'PX', ARGV[1])
return { 'acquired', token }
