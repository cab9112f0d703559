--[[ extend-lease: a longer life for a lease that is still ours, or (with 0 ms) its end.
  Atomic because: between a look and a write the lease may pass to another process, whose lease we would touch.
  KEYS 1 lease    ARGV 1 token · 2 life in ms, 0 to let go
  RETURN {"extended"} · {"released"} · {"lost"}    Cost O(1). ]]
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return { 'lost' } end
if tonumber(ARGV[2]) == 0 then
  redis.call('DEL', KEYS[1])
  return { 'released' }
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return { 'extended' }
