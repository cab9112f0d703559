--[[ extend-lease: extends a lease that this process still holds, or releases it (0 ms).
  Atomic because: between reading and writing, the lease may pass to another process, whose lease must not be changed.
  KEYS 1 lease    ARGV 1 token · 2 TTL in ms, 0 to release
  RETURN {"extended"} · {"released"} · {"lost"}    Cost O(1). ]]
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return { 'lost' } end
if tonumber(ARGV[2]) == 0 then
  redis.call('DEL', KEYS[1])
  return { 'released' }
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return { 'extended' }
